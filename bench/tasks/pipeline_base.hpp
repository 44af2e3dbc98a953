// tasks: the common part of pipelines with any policy and kind of item.
#ifndef BENCH_TASKS_PIPELINE_BASE_HPP
#define BENCH_TASKS_PIPELINE_BASE_HPP

#include "runner.hpp"

#include <weir/measure/stats.hpp>
#include <weir/run/stage_options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tasks {

// The size of batches.
class batch_watch {
  public:
    void see(std::size_t items) {
        // relaxed: read when all stages have ended
        if (items > most_.load(std::memory_order_relaxed)) most_.store(items, std::memory_order_relaxed);
    }
    std::size_t most() const { return most_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::size_t> most_{0};
};

class pipeline_base : public runner {
  public:
    explicit pipeline_base(const context& c);
    ~pipeline_base() override;
    void tell(values& effective) const override;

  protected:
    enum class consumer { a_thread, a_coroutine, a_stage };

    // Options of the stage that begins with number `s`.
    weir::stage_options stage(std::uint64_t s) const;
    weir::run_options options() const;
    // The number of stages in one function.
    std::uint64_t step() const { return fused_ ? context_.work.stages() : 1; }
    // The capacity of a queue, in items that the stages take.
    std::size_t unit_capacity() const { return capacity_ / batch_; }
    void keep(weir::pipeline_stats s) { last_ = std::move(s); }

    const context context_;
    std::size_t capacity_;
    std::size_t sink_capacity_;
    std::size_t batch_;
    std::size_t size_;
    consumer consumer_;
    bool fused_;
    weir::output_order order_ = weir::output_order::completion;  // from the last pipeline
    batch_watch watch_;

  private:
    std::string measured_level() const;
    std::size_t capacity_of(const std::string& channel) const;

    weir::pipeline_stats last_;
    std::shared_ptr<weir::run_report> report_;
    std::string report_path_;
};

}  // namespace tasks

#endif
