// weir stages: the stage that makes several items of one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_DISAGGREGATE_HPP
#define WEIR_STAGES_DISAGGREGATE_HPP

#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <span>      // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <utility>   // for std::move

namespace weir {

/// The options of `disaggregate`: its `name`, as in `stage_options`, and the `capacity` of the queue behind
/// it, in items, at least 1.
using disaggregate_options = detail::queue_options;

namespace detail {

template <class In>
struct element {
    using type = int;
    static_assert(std::ranges::input_range<In&>,
                  "weir: disaggregate takes ranges apart, and the stage before it gives none; the "
                  "type is that of element<...> in this message");
};
template <std::ranges::input_range In>
struct element<In> {
    using type = std::ranges::range_value_t<In&>;
};

template <class In>
class unpack_op {
    using Out = typename element<In>::type;

  public:
    void push(In&& item, std::optional<Out>&) { whole_.emplace(std::move(item)); }
    void pop(std::optional<Out>& result) {
        if (!whole_) return;
        if (!at_) {
            at_.emplace(std::ranges::begin(*whole_));
        } else {
            ++*at_;
        }
        if (*at_ == std::ranges::end(*whole_)) {
            at_.reset();
            whole_.reset();
        } else if constexpr (std::ranges::view<In>) {
            result.emplace(**at_);  // a view does not own its elements: they are copied
        } else {
            result.emplace(std::ranges::iter_move(*at_));
        }
    }
    std::optional<std::size_t> num_results() noexcept {
        if constexpr (std::ranges::sized_range<In&>) {
            return static_cast<std::size_t>(std::ranges::size(*whole_));
        } else {
            return std::nullopt;
        }
    }

  private:
    std::optional<In> whole_;
    std::optional<std::ranges::iterator_t<In>> at_;
};

struct disaggregate_stage : transform_stage<disaggregate_stage> {
    static constexpr const char* kind = "disaggregate";
    static constexpr const char* one_slot =
        "disaggregates: it takes one item apart after the other, its concurrency is 1";

    explicit disaggregate_stage(const disaggregate_options& o)
        : transform_stage{detail::stage_options_of(o, kind)} {}

    template <class In>
    using result = typename element<In>::type;

    template <class In>
    static unpack_op<In> op(const disaggregate_stage&) {
        return {};
    }
};

}  // namespace detail

/// Gives the elements of each item, which is a range, one by one.
///
/// For checkpoints, element k counts as the k-th item that an earlier `aggregate` has gathered into a
/// `std::vector`, without `drop_last`. All functions between the two have to be `stage_options::elementwise`,
/// and the range has to be sized, with one element for each item. Otherwise each element counts as all items
/// of the batch, and a checkpoint includes the items when the consumer has taken the last element.
///
/// Order:  kept.
/// Errors: an exception from the iterators, or from a move of an element, stops the run.
[[nodiscard]] inline auto disaggregate(disaggregate_options options = {}) {
    return detail::disaggregate_stage(options);
}

}  // namespace weir

#endif
