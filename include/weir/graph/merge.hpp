// weir graph: several pipelines that end in one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_MERGE_HPP
#define WEIR_GRAPH_MERGE_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/fan_in.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <string>       // for std::string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_same_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// Of `merge`.
struct merge_options {
    std::string name = "merge";  ///< see `stage_options::name`
    /// Where it runs; null: where the run was started. Outlives the run.
    weir::executor* executor = nullptr;
    /// Of the queue behind it, in items, at least 1.
    std::size_t capacity = 2;
    /// From which input the next item comes.
    merge_order order = merge_order::arrival;
    /// One for each input, for `merge_order::weighted`; an input of weight 0 has its turn when all others
    /// have ended.
    std::vector<std::uint64_t> weights = {};
    /// End when one of the inputs has ended, not when all have. In turns and by weights: when its turn
    /// comes, so that the same is given on every schedule. By arrival and by priority: at once.
    /// What the other inputs have made by then, and had no turn to give, is destroyed: nobody else gets it.
    bool until_first_end = false;
};

namespace detail {

// Named so that the compiler's own message reads as a sentence.
template <class... Given>
struct merged {
    template <class First, class...>
    struct first_of {
        using type = First;
    };
    using type = typename first_of<Given...>::type;
    static_assert((std::is_same_v<type, Given> && ...),
                  "weir: the pipelines that are merged have to give items of one type, all with epochs or "
                  "all without; their types are those of merged<...> in this message");
};

template <class P>
struct given_by;
template <class... Stages>
struct given_by<pipeline<Stages...>> {
    static constexpr bool begins = (is_source<Stages> || ...);
    static constexpr bool ends = (is_sink<Stages> || ...);
    static_assert(begins && !ends,
                  "weir: what is merged or zipped are pipelines with a source at their front and no sink: "
                  "the sink comes behind the merge");
    using type =
        typename std::conditional_t<begins, flow_from_source<Stages...>, std::type_identity<int>>::type;
};

// A stage that several pipelines end in.
template <class... Inputs>
struct stage_of_inputs : stage_base {
    static constexpr bool begins_pipelines = true;

    explicit stage_of_inputs(stage_options of_all, Inputs... from)
        : stage_base{std::move(of_all)}, inputs(std::move(from)...) {}

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        std::apply([&](auto&... each) { (Inputs::each_options(each, function), ...); }, self.inputs);
        function(self.options);
    }

    std::tuple<Inputs...> inputs;

  protected:
    template <class Output, class To>
    typename To::ends describe_as(const char* kind, To& to) const {
        typename To::ends all;
        std::size_t number = 0;
        const auto add = [&](const auto& input) {
            all += to.branch("input " + std::to_string(++number), input);
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, inputs);
        return to.template stage<Output, Output>(kind, options, all);
    }
};

template <class... Inputs>
struct merge_stage : stage_of_inputs<Inputs...> {
    using output = typename merged<typename given_by<Inputs>::type...>::type;

    explicit merge_stage(merge_options o, Inputs... from)
        : stage_of_inputs<Inputs...>(detail::stage_options_of(o), std::move(from)...), how(std::move(o)) {}

    template <class Self, class Policy>
    static channel<output, Policy>& attach(Self&& self, run_core<Policy>& run) {
        const auto& how = self.how;
        run.check(how.weights.empty() || how.weights.size() == sizeof...(Inputs), self.options,
                  "merges, and has more or fewer weights than inputs");
        run.check(how.weights.empty() || how.order == merge_order::weighted, self.options,
                  "merges, and its weights have no effect; give it .order = weir::merge_order::weighted");
        std::uint64_t sum = 0;
        for (const std::uint64_t weight : how.weights) {
            run.check(!was_negative(weight), self.options,
                      "merges, and a weight was negative; give it 0 or more");
            run.check(weight <= most_weight - sum, self.options,
                      "merges, and its weights sum to 2^62 or more");
            sum += weight;
        }
        return attach_all(std::forward<Self>(self), run, std::index_sequence_for<Inputs...>());
    }

    static constexpr const char* kind = "merge";
    template <class To>
    typename To::ends describe(To& to) const {
        return this->template describe_as<output>(kind, to);
    }

    merge_options how;

  private:
    static constexpr std::uint64_t most_weight = (std::uint64_t{1} << 62U) - 1;  // credits have a sign

    template <class Self, class Policy, std::size_t... I>
    static channel<output, Policy>& attach_all(Self&& self, run_core<Policy>& run,
                                               std::index_sequence<I...>) {
        std::vector<channel<output, Policy>*> in;
        // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
        (in.push_back(&detail::attach_source_part(run, std::get<I>(std::forward<Self>(self).inputs))), ...);
        // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
        return detail::attach_fan_in(run, "merge", self.options, self.how.order, self.how.weights,
                                     self.how.until_first_end, std::move(in));
    }
};

template <class... Inputs>
inline constexpr bool is_copyable<merge_stage<Inputs...>> = (is_copyable<Inputs> && ...);

// A pipeline of a part, which may be one stage.
template <class P>
auto pipeline_of(P&& part) {
    return detail::make_pipeline(detail::stages_of(std::forward<P>(part)));
}

}  // namespace detail

/// Joins pipelines, each with a source and without a sink, into the beginning of one:
///
///     auto p = weir::merge({.order = weir::merge_order::round_robin}, cats, dogs) | weir::sink();
///
/// Order:  that of each input is kept; between them as `merge_options::order` says. With epochs: the
///         epoch ends when it has ended in all inputs, and none goes on with the next one before.
/// Ends:   when all inputs have, or one: see `merge_options::until_first_end`.
/// Errors: a failure in one input ends that one, and then the run, as anywhere.
/// Cost:   a slot for each input, which holds at most one item.
template <class... Inputs>
[[nodiscard]] auto merge(merge_options options, Inputs&&... inputs) {
    constexpr bool fit = sizeof...(Inputs) > 0 && (detail::composable<Inputs> && ...);
    static_assert(fit, "weir: merge is given pipelines, one or more; an argument is none, or there is none");
    if constexpr (fit) {
        return detail::merge_stage<decltype(detail::pipeline_of(std::forward<Inputs>(inputs)))...>(
            std::move(options), detail::pipeline_of(std::forward<Inputs>(inputs))...);
    }
}
template <class... Inputs>
[[nodiscard]] auto merge(Inputs&&... inputs) {
    return weir::merge(merge_options(), std::forward<Inputs>(inputs)...);
}

}  // namespace weir

#endif
