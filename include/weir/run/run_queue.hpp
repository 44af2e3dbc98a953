// weir run, internal: a queue of a run, with and without its item's type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_QUEUE_HPP
#define WEIR_RUN_RUN_QUEUE_HPP

#include <weir/channel/byte_budget.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string
#include <utility>  // for std::move

namespace weir::detail {

// A queue of a run, without its item's type.
class any_queue {
  public:
    virtual ~any_queue() = default;
    virtual void begin(std::int64_t now) noexcept = 0;
    virtual void cancel() noexcept = 0;
    virtual channel_stats stats(std::int64_t until) = 0;
    virtual void set_capacity(std::size_t capacity) = 0;
    virtual void set_budget(byte_budget* budget, std::uint64_t sources) noexcept = 0;
    virtual std::uint64_t sources() const noexcept = 0;
    virtual const std::string& name() const noexcept = 0;
    virtual const void* address() const noexcept = 0;
    virtual const wait_site& place() const noexcept = 0;
};

template <class T, class Policy>
class queue_of final : public any_queue {
  public:
    queue_of(std::size_t capacity, executor& clock, std::string name)
        : channel(capacity, clock, std::move(name)) {}
    void begin(std::int64_t now) noexcept override { channel.start_measuring(now); }
    void cancel() noexcept override { channel.cancel(); }
    channel_stats stats(std::int64_t until) override { return channel.stats_until(until); }
    void set_capacity(std::size_t capacity) override { channel.set_capacity(capacity); }
    void set_budget(byte_budget* budget, std::uint64_t sources) noexcept override {
        channel.set_budget(budget, sources);
    }
    std::uint64_t sources() const noexcept override { return channel.sources(); }
    const std::string& name() const noexcept override { return channel.name(); }
    const void* address() const noexcept override { return &channel; }
    const wait_site& place() const noexcept override { return channel; }
    weir::channel<T, Policy> channel;
};

}  // namespace weir::detail

#endif
