// weir stages: the stages that end a stream after so many items, or begin after so many
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TAKE_HPP
#define WEIR_STAGES_TAKE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move

namespace weir {

/// Of `take` and `skip`.
struct take_options {
    /// "take" or "skip" if it is empty.
    std::string name = {};
    /// Of the queue behind it, in items, at least 1.
    std::size_t capacity = 2;
};

namespace detail {

// Ends the queue before it with the last item that it wants, not only when that has found room.
template <class C, class Policy>
class take_op {
  public:
    take_op(std::uint64_t n, channel<C, Policy>& in) noexcept : left_(n), in_(&in) {
        if (left_ == 0) in_->cancel();
    }

    void push(C&& item) {
        ready_.emplace(std::move(item));
        if (--left_ == 0) in_->cancel();
    }
    std::optional<C> pop() {
        std::optional<C> result;
        detail::replace(result, std::move(ready_));
        ready_.reset();
        return result;
    }
    bool done() const noexcept { return !ready_; }
    void end() const noexcept {}
    bool finished() const noexcept { return left_ == 0; }

  private:
    std::uint64_t left_;
    channel<C, Policy>* in_;
    std::optional<C> ready_;
};

template <class C>
class skip_op {
  public:
    explicit skip_op(std::uint64_t n) noexcept : left_(n) {}

    void push(C&& item) {
        if (left_ == 0) {
            ready_.emplace(std::move(item));
        } else {
            --left_;
            epoch_item_traits<C>::provenance_of(item).acknowledge();
        }
    }
    std::optional<C> pop() {
        std::optional<C> result;
        detail::replace(result, std::move(ready_));
        ready_.reset();
        return result;
    }
    bool done() const noexcept { return !ready_; }
    void end() const noexcept {}

  private:
    std::uint64_t left_;
    std::optional<C> ready_;
};

struct take_stage : stage_base {
    take_stage(std::uint64_t items, const take_options& o)
        : stage_base{detail::stage_options_of(o)}, n(items) {
        refuse_negative(n, "weir: take can't give a negative number of items; 0 gives none");
        if (options.name.empty()) options.name = "take";
    }

    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return detail::attach_transform<C>(run, "take", self.options,
                                           "takes the first items, one after the other: its concurrency is 1",
                                           take_op<C, Policy>(self.n, in), in);
    }

    std::uint64_t n;
};

struct skip_stage : stage_base {
    skip_stage(std::uint64_t items, const take_options& o)
        : stage_base{detail::stage_options_of(o)}, n(items) {
        refuse_negative(n, "weir: skip can't drop a negative number of items; 0 drops none");
        if (options.name.empty()) options.name = "skip";
    }

    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return detail::attach_transform<C>(run, "skip", self.options,
                                           "skips the first items, one after the other: its concurrency is 1",
                                           skip_op<C>(self.n), in);
    }

    std::uint64_t n;
};

}  // namespace detail

/// Gives the first `n` items; then the stream ends, and the stages before it end, too: each with what it
/// has in hand, which is destroyed, as is what waits in the queues. `take(0)` gives nothing.
///
/// Of a source with epochs: `n` items in all. The last epoch ends where they end; the stages behind give
/// what they hold, as at the end of the stream.
/// Order:  kept.
/// Errors: `std::invalid_argument` for what was negative, and at the start for a capacity of 0.
[[nodiscard]] inline auto take(std::uint64_t n, take_options options = {}) {
    return detail::take_stage(n, options);
}

/// Drops the first `n` items, and gives all others; of a source with epochs, `n` in all. For a checkpoint
/// they count as taken.
///
/// Order:  kept.
/// Errors: as of `take`.
[[nodiscard]] inline auto skip(std::uint64_t n, take_options options = {}) {
    return detail::skip_stage(n, options);
}

}  // namespace weir

#endif
