// weir graph, internal: what stages that several pipelines end in have in common
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_INPUTS_HPP
#define WEIR_GRAPH_INPUTS_HPP

#include <weir/channel/channel.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>      // for std::size_t
#include <string>       // for std::to_string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::declval, std::forward

namespace weir::detail {

template <class... Inputs>
inline constexpr bool are_pipelines = sizeof...(Inputs) > 0 && (composable<Inputs> && ...);

// A pipeline of a part, which may be one stage.
template <class P>
auto pipeline_of(P&& part) {
    return detail::make_pipeline(detail::stages_of(std::forward<P>(part)));
}

// The stage that a merge or a zip is; none, if what it was given was refused.
template <bool Fit, template <class...> class Stage, class... Given>
struct joined_stage {
    using stage = no_stage;
};
template <template <class...> class Stage, class... Given>
struct joined_stage<true, Stage, Given...> {
    using stage = Stage<decltype(detail::pipeline_of(std::declval<Given>()))...>;
};
template <template <class...> class Stage, class... Given>
using joined_stage_t = typename joined_stage<are_pipelines<Given...>, Stage, Given...>::stage;

template <class P>
struct given_by;
template <class Row>
struct given_by<pipeline<Row>> {
    static_assert(Row::begins && !Row::ends,
                  "weir: what is merged or zipped are pipelines with a source at their front and no sink or "
                  "for_each at their end: that comes behind the merge");
    using type = typename std::conditional_t<Row::begins, given_by_row<Row>, std::type_identity<int>>::type;
};
template <class P>
using given_by_t = typename given_by<P>::type;

// The description of such a stage has a `kind` and an `output`.
template <class... Inputs>
struct stage_of_inputs : stage_base {
    static constexpr bool begins_pipelines = true;

    template <class Options, class... Given>
    stage_of_inputs(const char* kind, const Options& o, Given&&... from)
        : stage_base{detail::stage_options_of(o, kind)},
          inputs(detail::pipeline_of(std::forward<Given>(from))...) {}

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        std::apply([&](auto&... each) { (Inputs::each_options(each, function), ...); }, self.inputs);
        function(self.options);
    }

    std::tuple<Inputs...> inputs;

  protected:
    // Puts the inputs into a run; returns the queues in which they end.
    template <class Self, class Policy>
    static auto attach_inputs(Self&& self, run_core<Policy>& run) {
        using queues = std::tuple<channel<given_by_t<Inputs>, Policy>*...>;
        return std::apply(
            [&run](auto&&... each) {
                return queues{&Inputs::attach(std::forward<decltype(each)>(each), run)...};
            },
            std::forward<Self>(self).inputs);
    }

    template <class Stage, class To>
    typename To::ends describe_as(To& to) const {
        typename To::ends all;
        std::size_t number = 0;
        const auto add = [&](const auto& input) {
            all += to.branch("input " + std::to_string(++number), input);
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, inputs);
        using output = typename Stage::output;
        return to.template stage<output, output>(Stage::kind, options, all);
    }
};

}  // namespace weir::detail

#endif
