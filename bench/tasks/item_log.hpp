// tasks: a line of text for each item.
#ifndef BENCH_TASKS_ITEM_LOG_HPP
#define BENCH_TASKS_ITEM_LOG_HPP

#include "settings.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace tasks {

// A log with a line for each item, written with C's stdio, whose lock threads share.
class item_log {
  public:
    explicit item_log(const values& asked);
    item_log(const item_log&) = delete;
    item_log& operator=(const item_log&) = delete;
    ~item_log();

    void write(std::uint64_t number) {
        if (to_ != target::nowhere) write_line(number);
    }

    // Flushes buffers, because their lines belong to the batch.
    void end_batch();

    // The real destination of lines, and the real time of writing.
    void tell(values& effective) const;

  private:
    enum class target { nowhere, ring, stream };
    void write_line(std::uint64_t number);

    target to_ = target::nowhere;
    std::FILE* out_ = nullptr;
    std::string flush_;  // the requested value, if there is no stream
};

}  // namespace tasks

#endif
