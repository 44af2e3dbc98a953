// weir stages: the stage that makes several items of one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_DISAGGREGATE_HPP
#define WEIR_STAGES_DISAGGREGATE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <span>      // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <utility>   // for std::move

namespace weir {

/// Of `disaggregate`: its `name`, as in `stage_options`, and the `capacity` of the queue behind it, in
/// items, at least 1.
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

template <class C>
class unpack_op {
    using In = carried_value_t<C>;
    using Out = typename element<In>::type;
    using load = epoch_item_traits<C>;
    using D = carry_t<C, Out>;

  public:
    void push(C&& item, std::optional<D>&) {
        about_ = load::provenance_of(item);
        whole_.emplace(std::move(load::value_of(item)));
        place_ = 0;
    }
    void pop(std::optional<D>& out) {
        if (!whole_) return;
        if (!at_) {
            at_.emplace(std::ranges::begin(*whole_));
        } else {
            ++*at_;
        }
        if (*at_ == std::ranges::end(*whole_)) {
            at_.reset();
            whole_.reset();
            about_.acknowledge();
        } else if constexpr (std::ranges::view<In>) {
            Out each(**at_);  // what a view names is somebody else's
            out.emplace(load::carry(each, of_element()));
        } else {
            Out each(std::ranges::iter_move(*at_));
            out.emplace(load::carry(each, of_element()));
        }
    }

  private:
    auto of_element() noexcept {
        if constexpr (std::ranges::sized_range<In&>) {
            return about_.of_element(place_++, static_cast<std::size_t>(std::ranges::size(*whole_)));
        } else {
            return about_.share();
        }
    }

    std::optional<In> whole_;
    std::optional<std::ranges::iterator_t<In>> at_;
    typename load::provenance about_;
    std::size_t place_ = 0;  // of the next element
};

struct disaggregate_stage : transform_stage {
    static constexpr const char* kind = "disaggregate";
    static constexpr const char* one_slot =
        "disaggregates: it takes one item apart after the other, its concurrency is 1";

    explicit disaggregate_stage(const disaggregate_options& o)
        : transform_stage{detail::stage_options_of(o, kind)} {}

    template <class C>
    using output = carry_t<C, typename element<carried_value_t<C>>::type>;

    template <class C, class Policy>
    static unpack_op<C> op(const disaggregate_stage&, channel<C, Policy>&) {
        return {};
    }
};

}  // namespace detail

/// Gives the elements of each item, which is a range, one by one. For a checkpoint each element is of what
/// `aggregate` gathered in its place, if functions between them are `stage_options::elementwise`; else of all
/// of the batch, and there is no checkpoint until all elements have been taken.
///
/// Order:  kept.
/// Errors: what is thrown while an item is taken apart stops the run.
[[nodiscard]] inline auto disaggregate(disaggregate_options options = {}) {
    return detail::disaggregate_stage(options);
}

}  // namespace weir

#endif
