// weir stages: the stage that mixes the order of items in a bounded buffer
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SHUFFLE_HPP
#define WEIR_STAGES_SHUFFLE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Of `shuffle`.
struct shuffle_options {
    std::string name = "shuffle";  ///< see `stage_options::name`
    /// Of the queue behind it, in items, at least 1.
    std::size_t capacity = 2;
};

namespace detail {

// Random numbers of one epoch.
class epoch_numbers {
  public:
    explicit epoch_numbers(std::uint64_t seed, std::uint64_t epoch = 0) noexcept
        : seed_(subseed(seed, epoch)) {}

    // Below n, each as likely as the other; n is not 0.
    // Source: D. Lemire, "Fast random integer generation in an interval" (ACM TOMACS 2019).
    std::uint64_t below(std::uint64_t n) noexcept {
        while (true) {
            const std::uint64_t random = splitmix64(seed_, count_++);
            const std::uint64_t low = random * n;
            if (low >= n || low >= (0 - n) % n) return high_product(random, n);
        }
    }

  private:
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
};

// Holds up to `size` items, as the queue does: with what travels with them.
template <class C>
class shuffle_op {
  public:
    shuffle_op(std::size_t size, std::uint64_t seed) : size_(size), seed_(seed), random_(seed) {}

    void push(C&& item) {
        if constexpr (is_epoch_item<C>) {
            if (held_.empty()) random_ = epoch_numbers(seed_, item.epoch());
        }
        if (held_.size() < size_) {
            if (held_.empty()) held_.reserve(std::min(size_, most_reserved));
            held_.emplace_back(std::move(item));
        } else {
            auto& place = held_[pick()];
            ready_.emplace(*std::move(place));
            place.emplace(std::move(item));
        }
    }
    std::optional<C> pop() {
        std::optional<C> result;
        if (ready_) {
            detail::replace(result, std::move(ready_));
            ready_.reset();
        } else if (ends_) {
            auto& place = held_[pick()];
            result.emplace(*std::move(place));
            if (&place != &held_.back()) detail::replace(place, std::move(held_.back()));
            held_.pop_back();
            ends_ = !held_.empty();
        }
        return result;
    }
    bool done() const noexcept { return !ready_ && !ends_; }
    void end() noexcept { ends_ = !held_.empty(); }

  private:
    std::size_t pick() noexcept { return static_cast<std::size_t>(random_.below(held_.size())); }

    static constexpr std::size_t most_reserved = 1U << 16U;
    const std::size_t size_;
    const std::uint64_t seed_;
    epoch_numbers random_;
    std::vector<std::optional<C>> held_;  // each holds one: an item may not be assignable
    std::optional<C> ready_;
    bool ends_ = false;
};

struct shuffle_stage : stage_base {
    shuffle_stage(std::size_t n, std::uint64_t s, const shuffle_options& o)
        : stage_base{detail::stage_options_of(o)}, size(n), seed(s) {
        if (size == 0) {
            throw std::invalid_argument(
                "weir: shuffle(0) has no place to hold an item back; give it 1 or more");
        }
        refuse_negative(size, "weir: the size of a shuffle's buffer was negative; give it 1 or more");
    }

    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return detail::attach_transform<C>(run, "shuffle", self.options,
                                           "shuffles: its items share one buffer, its concurrency is 1",
                                           shuffle_op<C>(self.size, self.seed), in);
    }

    std::size_t size;
    std::uint64_t seed;
};

}  // namespace detail

/// Mixes the order: holds up to `buffer_size` items; each one more takes the place of a random one, which
/// leaves. At the end of the stream, and of each epoch, the rest leaves in random order.
///
///     weir::source(weir::epochs(files)) | weir::shuffle(10'000, 42) | weir::aggregate(32) | weir::sink()
///
/// \param buffer_size  in items, at least 1. An item leaves at most `buffer_size` places earlier than it
///                     came; with a buffer for all of an epoch each order is as likely as the other.
/// \param seed         the same one gives the same order in each run, on every platform. Each epoch has an
///                     order of its own, which doesn't depend on the epochs before it.
/// Order:  never mixes epochs.
/// Errors: `std::invalid_argument` for a size of 0, or what was negative.
/// Cost:   the items it holds; one random number an item, about 5 ns.
[[nodiscard]] inline auto shuffle(std::size_t buffer_size, std::uint64_t seed = 0,
                                  shuffle_options options = {}) {
    return detail::shuffle_stage(buffer_size, seed, options);
}

}  // namespace weir

#endif
