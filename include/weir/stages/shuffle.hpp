// weir stages: the stage that mixes the order of items in a bounded buffer
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SHUFFLE_HPP
#define WEIR_STAGES_SHUFFLE_HPP

#include <weir/platform/numbers.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// The options of `shuffle`: `name` and `where`, as in `stage_options`, and the `capacity` of the queue
/// behind the stage, in items, at least 1.
using shuffle_options = detail::queue_options;

namespace detail {

// The random numbers of one epoch.
class epoch_numbers {
  public:
    explicit epoch_numbers(std::uint64_t seed, std::uint64_t epoch = 0) noexcept
        : seed_(subseed(seed, epoch)) {}

    // Uniformly distributed below n, which is not 0.
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
    std::uint64_t count_ = 0;  // of the random numbers so far
};

// The operation of a shuffle: the object whose `push` the stage calls with each item (stages/transform.hpp).
// Holds up to `size` items, and gives a random one of them for each further item.
template <class C>
class shuffle_op {
  public:
    static constexpr result_origin origin = result_origin::unknown;  // a random item leaves

    shuffle_op(std::size_t size, std::uint64_t seed) : size_(size), seed_(seed), random_(seed) {}

    void begin_epoch(std::uint64_t epoch) noexcept { random_ = epoch_numbers(seed_, epoch); }
    void push(C&& item, std::optional<C>& out) {
        if (held_.size() < size_) {
            if (held_.empty()) held_.reserve((std::min)(size_, most_reserved));
            held_.emplace_back(std::move(item));
        } else {
            auto& place = held_[pick()];
            out.emplace(*std::move(place));
            place.emplace(std::move(item));
        }
    }
    void end(std::optional<C>&) noexcept { is_draining_ = !held_.empty(); }
    void pop(std::optional<C>& out) {
        if (!is_draining_) return;
        auto& place = held_[pick()];
        out.emplace(*std::move(place));
        if (&place != &held_.back()) detail::replace(place, std::move(held_.back()));
        held_.pop_back();
        is_draining_ = !held_.empty();
    }
    bool done() const noexcept { return !is_draining_; }

  private:
    // Returns the index of a random held item.
    std::size_t pick() noexcept { return static_cast<std::size_t>(random_.below(held_.size())); }

    static constexpr std::size_t most_reserved = 1U << 16U;  // a larger buffer allocates as it fills
    const std::size_t size_;
    const std::uint64_t seed_;
    epoch_numbers random_;                // of the current epoch
    std::vector<std::optional<C>> held_;  // none is empty; an optional, because items need not be assignable
    bool is_draining_ = false;            // the stream or an epoch has ended: `pop` gives the held items
};

struct shuffle_stage : transform_stage<shuffle_stage> {
    static constexpr bool takes_elements = true;  // items with their epochs and origins, as in the queue
    static constexpr const char* kind = "shuffle";
    static constexpr const char* one_slot = "shuffles: its items share one buffer, its concurrency is 1";

    shuffle_stage(std::size_t n, std::uint64_t s, const shuffle_options& o)
        : transform_stage{detail::stage_options_of(o, kind)}, size(n), seed(s) {
        refuse_if(size == 0, "weir: shuffle(0) has no place to hold an item back; give it 1 or more");
        refuse_negative(size, "weir: the size of a shuffle's buffer was negative; give it 1 or more");
    }
    template <class C>
    static shuffle_op<C> op(const shuffle_stage& self) {
        return {self.size, self.seed};
    }

    std::size_t size;
    std::uint64_t seed;
};

}  // namespace detail

/// Mixes the order of items. The stage holds up to `buffer_size` items; each further item takes the place of
/// a random one, which leaves. At the end of the stream, and of each epoch (pass over the data), the held
/// items leave in random order.
///
///     weir::source(weir::epochs(files)) | weir::shuffle(10'000, 42) | weir::aggregate(32) | weir::sink()
///
/// \param buffer_size  in items, at least 1. An item moves by less than `buffer_size` places towards the
///                     front of the stream; there is no such limit towards its end. If the buffer holds a
///                     whole epoch, all orders are equally likely.
/// \param seed         equal seeds give equal orders, in each run and on every platform. Each epoch has
///                     another order, which doesn't depend on earlier epochs.
/// Order:  see `buffer_size`; never mixes epochs.
/// Errors: `std::invalid_argument` for a size of 0, and for negative numbers.
/// Cost:   memory for the held items; one random number an item, about 5 ns.
[[nodiscard]] inline auto shuffle(std::size_t buffer_size, std::uint64_t seed = 0,
                                  shuffle_options options = {}) {
    return detail::shuffle_stage(buffer_size, seed, options);
}

}  // namespace weir

#endif
