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

    // In stage `s`, of what doesn't wait.
    void work(item& x, std::uint64_t s) const {
        begin(x, s);
        if (kind_ != kind_of_work::noop) work_alone();
    }
    // Of what does.
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

    // The part of it that keeps a core busy.
    void work_alone() const;

    // Before a batch. What waits does so on `ex`.
    void begin_batch(weir::executor& ex);

    // Nanoseconds that a stage's work takes by itself, measured; of a sleep, asked for.
    double work_ns() const;
    integer bytes() const { return bytes_; }
    integer asked_ns() const { return pause_.count(); }

  private:
    // What the item before it leaves to the next.
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
