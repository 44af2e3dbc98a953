// weir stages, internal: the type of a row of stages, and how a row is added to a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_ROW_HPP
#define WEIR_STAGES_STAGE_ROW_HPP

#include <weir/channel/channel.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage.hpp>

#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir {

template <class Row>
class pipeline;

namespace detail {

template <class S>
inline constexpr bool is_sink = std::is_same_v<S, sink_stage>;

// Whether a stage can be copied.
template <class S>
inline constexpr bool is_copyable = std::is_copy_constructible_v<S>;
template <class S>
inline constexpr bool is_copyable<source_stage<S>> = can_be_copied<S>;

template <class P>
inline constexpr bool is_pipeline = false;
template <class Row>
inline constexpr bool is_pipeline<pipeline<Row>> = true;
template <class Row>
inline constexpr bool is_copyable<pipeline<Row>> = Row::copyable;

// A row without stages. Each `|` puts the row before it and one stage into a `stage_row`. With a std::tuple,
// each `|` would instantiate a type for each stage again.
struct no_stages {
    static constexpr std::size_t size = 0;
    static constexpr bool begins = false;  // has a source
    static constexpr bool ends = false;    // has a sink, or a stage in its place
    static constexpr bool complete = false;
    static constexpr bool copyable = true;

    // The item type behind the last stage if the first stage takes items of type C. Each stage checks its own
    // item type.
    template <class C>
    using output = C;

    template <class Self, class Function>
    static void each_options(Self&, Function&) {}
    template <class Self, class Function>
    static decltype(auto) apply(Self&&, Function&& function) {
        return function();
    }
    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&&, run_core<Policy>&, channel<C, Policy>& in) {
        return in;
    }
};

template <class Before, class Last>
struct stage_row {
    using last_type = Last;
    static constexpr std::size_t size = Before::size + 1;
    static constexpr bool is_first = Before::size == 0;
    static constexpr bool begins = Before::begins || is_source<Last>;
    static constexpr bool ends = Before::ends || is_end<Last>;
    static constexpr bool complete = Before::begins && is_end<Last>;
    static constexpr bool copyable = Before::copyable && is_copyable<Last>;

    // For rows without a source. `L` and `B` delay the instantiation until `output` is used.
    template <class C, class L = Last, class B = Before>
    using output = typename L::template output<typename B::template output<C>>;

    // Calls `function` with the options of each stage, and of the stages nested in it, such as branches.
    template <class Self, class Function>
    static void each_options(Self& self, Function& function) {
        if constexpr (!is_first) Before::each_options(self.before, function);
        Last::each_options(self.last, function);
    }
    // Calls `function` once, with all stages as its arguments.
    template <class Self, class Function>
    static decltype(auto) apply(Self&& self, Function&& function) {
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return Before::apply(std::forward<Self>(self).before, [&](auto&&... earlier) -> decltype(auto) {
            return function(std::forward<decltype(earlier)>(earlier)..., std::forward<Self>(self).last);
        });
    }

    // Adds the stages to a run, behind the queue `in`, or behind none if they begin with a source.
    template <class Self, class Policy, class C>
    static auto& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        auto& between = Before::attach(std::forward<Self>(self).before, run, in);
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return Last::attach(std::forward<Self>(self).last, run, between);
    }
    template <class Self, class Policy>
    static auto& attach(Self&& self, run_core<Policy>& run) {
        if constexpr (is_first) {
            return Last::attach(std::forward<Self>(self).last, run);
        } else {
            auto& between = Before::attach(std::forward<Self>(self).before, run);
            // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
            return Last::attach(std::forward<Self>(self).last, run, between);
        }
    }

    Before before;
    Last last;
};

template <class R>
inline constexpr bool is_stage_row = false;
template <>
inline constexpr bool is_stage_row<no_stages> = true;
template <class Before, class Last>
inline constexpr bool is_stage_row<stage_row<Before, Last>> = true;

// The item type behind a row that begins with a source.
template <class Row>
struct given_by_row;
template <class Last>
struct given_by_row<stage_row<no_stages, Last>> {
    using type = typename Last::output;
};
template <class Before, class Last>
struct given_by_row<stage_row<Before, Last>> {
    using type = typename Last::template output<typename given_by_row<Before>::type>;
};
template <class Before, class Last>
    requires is_source<Last>
struct given_by_row<stage_row<Before, Last>> : given_by_row<Before> {};  // operator| refuses such a row
template <class Last>
    requires is_source<Last>
struct given_by_row<stage_row<no_stages, Last>> {
    using type = typename Last::output;
};

// Returns a row of the stages of `left`, and those of `right` behind them.
template <class Left>
Left join(Left&& left, no_stages&&) {
    return std::forward<Left>(left);
}
template <class Left, class Last>
auto join(Left&& left, stage_row<no_stages, Last>&& right) {
    return stage_row<Left, Last>{std::forward<Left>(left), std::move(right.last)};
}
template <class Left, class Before, class Last>
auto join(Left&& left, stage_row<Before, Last>&& right) {
    return stage_row<decltype(detail::join(std::forward<Left>(left), std::move(right.before))), Last>{
        detail::join(std::forward<Left>(left), std::move(right.before)), std::move(right.last)};
}

}  // namespace detail
}  // namespace weir

#endif
