// tasks: the work of a stage for an item.
#ifndef BENCH_TASKS_WORKLOAD_HPP
#define BENCH_TASKS_WORKLOAD_HPP

#include "item.hpp"
#include "item_log.hpp"
#include "settings.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/policy.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tasks {

enum class kind_of_work { noop, cpu, sleep, memory, io, chain };

class workload {
  public:
    workload(const values& asked, item_log& log);

    kind_of_work kind() const { return kind_; }
    bool waits() const { return kind_ == kind_of_work::sleep || kind_ == kind_of_work::chain; }
    std::uint64_t stages() const { return stages_; }

    // The work in stage `s`, if it does not wait.
    void work(item& x, std::uint64_t s) const {
        begin(x, s);
        if (kind_ != kind_of_work::noop) work_alone();
    }
    // The work that waits.
    weir::task<item> wait(item x, std::uint64_t s) const {
        begin(x, s);
        if (kind_ == kind_of_work::sleep) {
            co_await weir::sleep_for(pause_);
        } else {
            token& mine = *tokens_[s];
            const auto before = co_await mine.get();
            work_alone();
            std::uint64_t after = *before + 1;
            co_await mine.put(after);
        }
        co_return x;
    }

    // The part of the work that keeps a core busy.
    void work_alone() const;

    // Called before a batch. Work that waits does so on `ex`.
    void begin_batch(weir::executor& ex);

    // The nanoseconds of a stage's work alone: measured, or for a sleep the requested time.
    double work_ns() const;
    integer bytes() const { return bytes_; }
    integer asked_ns() const { return pause_.count(); }

  private:
    // The value that an item leaves for the next one.
    using token = weir::channel<std::uint64_t, weir::unmeasured>;

    void begin(item& x, std::uint64_t s) const {
        ++x.stages;
        if (s == 0) log_.write(x.number);
    }

    kind_of_work kind_;
    std::uint64_t stages_;
    weir::duration pause_;
    integer bytes_;
    std::uint64_t rounds_;
    item_log& log_;
    std::vector<std::unique_ptr<token>> tokens_;
};

}  // namespace tasks

#endif
