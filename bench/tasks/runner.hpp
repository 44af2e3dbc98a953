// tasks: the interface for processing a batch of items: by a pipeline, or by tasks on the executor.
#ifndef BENCH_TASKS_RUNNER_HPP
#define BENCH_TASKS_RUNNER_HPP

#include "item.hpp"
#include "item_log.hpp"
#include "settings.hpp"
#include "workload.hpp"

#include <weir/executor/executor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tasks {

// The latencies of the first items of a batch, from their creation to their end.
class latencies {
  public:
    explicit latencies(bool on) : on_(on) {}

    bool on() const { return on_; }
    void begin_batch(std::uint64_t items) {
        if (on_) each_.assign(std::min<std::uint64_t>(items, 1'000'000), 0);
    }
    // Threads: several at once, for different items.
    void end_of(const item& x) {
        if (on_ && x.number < each_.size()) each_[x.number] = nanoseconds_now() - x.made_at;
    }
    double quantile_us(double q) {
        const auto place = static_cast<std::ptrdiff_t>(q * static_cast<double>(each_.size() - 1));
        std::nth_element(each_.begin(), each_.begin() + place, each_.end());
        return static_cast<double>(each_[static_cast<std::size_t>(place)]) * 1e-3;
    }

  private:
    bool on_;
    std::vector<std::int64_t> each_;
};

struct context {
    const values& asked;
    weir::executor& pool;
    workload& work;
    latencies& times;
};

class runner {
  public:
    runner() = default;
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;
    virtual ~runner() = default;

    // Returns when all items have passed all stages.
    virtual totals pass(std::uint64_t items) = 0;
    // The settings of the last pass, as reported by the library.
    virtual void tell(values& effective) const = 0;
};

// `Batches`: the stages take several items at once. Each has its own source file, because it takes long to compile.
template <class Policy, bool Batches>
std::unique_ptr<runner> make_pipeline(const context& c);
std::unique_ptr<runner> make_tasks(const context& c);

}  // namespace tasks

#endif
