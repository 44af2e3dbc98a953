// weir stages: `take`, which gives the first items only, and `skip`, which drops them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TAKE_HPP
#define WEIR_STAGES_TAKE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir {

/// The options of `take` and `skip`: the `name`, as in `stage_options`, and the `capacity` of the queue
/// behind it, in items, at least 1.
using take_options = detail::queue_options;

namespace detail {

template <class T>
class take_op {
  public:
    explicit take_op(std::uint64_t n) noexcept : left_(n) {}

    void push(T&& item, std::optional<T>& result) {
        result.emplace(std::move(item));
        --left_;
    }
    bool finished() const noexcept { return left_ == 0; }

  private:
    std::uint64_t left_;
};

template <class T>
class skip_op {
  public:
    explicit skip_op(std::uint64_t n) noexcept : left_(n) {}

    void push(T&& item, std::optional<T>& result) {
        if (left_ == 0) {
            result.emplace(std::move(item));
        } else {
            --left_;
        }
    }

  private:
    std::uint64_t left_;
};

struct take_stage : transform_stage<take_stage> {
    static constexpr const char* kind = "take";
    static constexpr const char* one_slot =
        "takes the first items, one after the other: its concurrency is 1";
    static constexpr const char* no_checkpoint = "would take as many items again in a resumed run";

    take_stage(std::uint64_t items, const take_options& o)
        : transform_stage{detail::stage_options_of(o, kind)}, n(items) {
        refuse_negative(n, "weir: take can't give a negative number of items; 0 gives none");
    }
    template <class T>
    static take_op<T> op(const take_stage& self) {
        return take_op<T>(self.n);
    }

    std::uint64_t n;
};

struct skip_stage : transform_stage<skip_stage> {
    static constexpr const char* kind = "skip";
    static constexpr const char* one_slot =
        "skips the first items, one after the other: its concurrency is 1";
    static constexpr const char* no_checkpoint = "would skip as many items again in a resumed run";

    skip_stage(std::uint64_t items, const take_options& o)
        : transform_stage{detail::stage_options_of(o, kind)}, n(items) {
        refuse_negative(n, "weir: skip can't drop a negative number of items; 0 drops none");
    }
    template <class T>
    static skip_op<T> op(const skip_stage& self) {
        return skip_op<T>(self.n);
    }

    std::uint64_t n;
};

}  // namespace detail

/// Gives the first `n` items; then the stream ends. The stages before it end, too; their items, and those in
/// the queues, are destroyed. `take(0)` gives nothing.
///
/// With epochs: `n` items in all. The last epoch ends with the last item, and the stages behind give their
/// held items. A run with this stage has no checkpoint, except in a branch of a `tee`.
/// Order:  kept.
/// Errors: `std::invalid_argument` for negative numbers, and at the start for a capacity of 0.
[[nodiscard]] inline auto take(std::uint64_t n, take_options options = {}) {
    return detail::take_stage(n, options);
}

/// Drops the first `n` items, and gives all others; with epochs, `n` in all. A run with this stage has no
/// checkpoint.
///
/// Order:  kept.
/// Errors: as of `take`.
[[nodiscard]] inline auto skip(std::uint64_t n, take_options options = {}) {
    return detail::skip_stage(n, options);
}

}  // namespace weir

#endif
