// weir graph: `merge`, which joins several pipelines into one stream, and the base of stages with inputs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_MERGE_HPP
#define WEIR_GRAPH_MERGE_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/fan_in.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::uint64_t
#include <functional>       // for std::function
#include <limits>           // for std::numeric_limits
#include <source_location>  // for std::source_location
#include <span>             // for std::span
#include <string>           // for std::string
#include <tuple>            // for std::apply, std::tuple
#include <type_traits>      // for std::conditional_t, std::is_same_v
#include <utility>          // for std::declval, std::forward, std::move
#include <vector>           // for std::vector

namespace weir {

/// The options of `merge`.
struct merge_options {
    std::string name = {};  ///< for statistics and reports; empty: `merge` and the place in the pipeline
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;
    /// Which input gives the next item.
    merge_order order = merge_order::arrival;
    /// The weights of the inputs, for `merge_order::weighted` and `random`; 0 or more, in any unit. Empty:
    /// all are equal. Inputs of weight 0 have turns only when all others have ended, or have ended the epoch
    /// (their pass over the data); the weights of these inputs are then equal. With `random`, a positive
    /// weight counts as 2^-52 of the greatest weight at least.
    std::vector<double> weights = {};
    /// The seed of `merge_order::random`: equal seeds give equal orders, on every platform and schedule. Each
    /// epoch has another order.
    std::uint64_t seed = 0;
    /// A function of the user, instead of an order: returns the index of the input that has the next turn.
    /// The argument has the indices of the inputs that may have more items in this epoch, ascending. If the
    /// chosen input has no more items, the function is called again, without this index. Each run has a copy
    /// of the function.
    /// Threads: the stage's threads, one call at a time. Errors: an exception, or an index that is not in the
    /// argument, stops the run, as a failure of the merge. Lifetime: objects that the function refers to
    /// outlive the run.
    std::function<std::size_t(std::span<const std::size_t>)> rule = nullptr;
    /// True: the stage ends when one input has ended; false: when all inputs have ended. With `arrival` and
    /// `priority`, the stage ends at once. With `round_robin`, `weighted`, `random` or a `rule`, the stage
    /// ends at the next turn of the ended input. So the result does not depend on the schedule. Items of the
    /// other inputs that have not left the stage are then destroyed.
    bool until_first_end = false;
    /// The source location that reports show for the stage: of the options' braces, or of the call.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class... Inputs>
inline constexpr bool are_pipelines = sizeof...(Inputs) > 0 && (composable<Inputs> && ...);

// Makes a pipeline from an argument of `merge` or `zip`: from a pipeline, or from one stage.
template <class P>
auto pipeline_of(P&& part) {
    return detail::make_pipeline(detail::stages_of(std::forward<P>(part)));
}

// The member `stage`: the base class of `merge` and `zip`. This is `Stage`, the description of the stage (a
// value from which each run makes the stage). But if an argument is no pipeline, this is `no_stage`, and a
// static assertion in the derived class fails.
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

// The item type of the last queue of an input.
template <class P>
struct given_by;
template <class Row>
struct given_by<pipeline<Row>> {
    static_assert(Row::begins && !Row::ends,
                  "weir: merge and zip take pipelines with a source, and without a sink or for_each; that "
                  "follows the merge");
    using type = typename std::conditional_t<Row::begins, given_by_row<Row>, std::type_identity<int>>::type;
};
template <class P>
using given_by_t = typename given_by<P>::type;

// The base of descriptions of stages with several inputs. A derived class has the members `kind`, the name of
// the kind of stage, and `output`, the item type of the queue behind the stage.
template <class... Inputs>
struct stage_of_inputs : stage_base {
    static constexpr bool begins_pipelines = true;  // as a source does: no stage is before this one

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
    // Adds the inputs to a run. Returns their last queues.
    template <class Self, class Policy>
    static auto attach_inputs(Self&& self, run_core<Policy>& run) {
        using queues = std::tuple<channel<given_by_t<Inputs>, Policy>*...>;
        return std::apply(
            [&run](auto&&... each) {
                return queues{&Inputs::attach(std::forward<decltype(each)>(each), run)...};
            },
            std::forward<Self>(self).inputs);
    }

    // For `weir::describe`, which lists the stages of a pipeline: adds the inputs and this stage to the list
    // `to`. Returns this stage, from which the next stage takes.
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

// Asserts that the inputs give items of one type, `type`.
template <class First, class... Given>
struct merged {
    using type = First;
    static_assert((std::is_same_v<First, Given> && ...),
                  "weir: the pipelines that are merged have to give items of one type, all with epochs or "
                  "all without; their types are those of merged<...> in this message");
};

template <class... Inputs>
struct merge_stage : stage_of_inputs<Inputs...> {  // the description of a `merge`
    static constexpr const char* kind = "merge";
    using output = typename merged<given_by_t<Inputs>...>::type;

    template <class... Given>
    explicit merge_stage(merge_options o, Given&&... from)
        : stage_of_inputs<Inputs...>(kind, o, std::forward<Given>(from)...), how(std::move(o)) {}

    template <class Self, class Policy>
    static channel<output, Policy>& attach(Self&& self, run_core<Policy>& run) {
        const auto& how = self.how;
        run.refuse_unless(how.weights.empty() || how.weights.size() == sizeof...(Inputs), self.options,
                          "merges, and has more or fewer weights than inputs");
        run.refuse_unless(
            how.weights.empty() || how.order == merge_order::weighted || how.order == merge_order::random,
            self.options,
            "merges, and its weights have no effect; give it .order = weir::merge_order::weighted, or "
            "random");
        run.refuse_unless(how.order == merge_order::arrival || !how.rule, self.options,
                          "merges, and has both an order and a rule; give it one of them");
        double sum = 0;
        for (const double weight : how.weights) {
            run.refuse_unless(is_finite(weight) && weight >= 0, self.options,
                              "merges, and a weight was negative, infinite or no number; give it 0 or more");
            // The sum of halves can't overflow.
            run.refuse_unless(weight / 2 + sum / 2 <= (std::numeric_limits<double>::max)() / 2, self.options,
                              "merges, and its weights sum to more than a number can be");
            sum += weight;
        }
        const auto in = merge_stage::attach_inputs(std::forward<Self>(self), run);
        auto queues = std::apply([](auto*... each) { return std::vector{each...}; }, in);
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return detail::attach_fan_in(run, kind, static_cast<const stage_options&>(self.options),
                                     {.order = how.order,
                                      .weights = how.weights,
                                      .seed = how.seed,
                                      .until_first_end = how.until_first_end},
                                     std::move(queues), how.rule);
    }

    template <class To>
    typename To::ends describe(To& to) const {
        return this->template describe_as<merge_stage>(to);
    }

    merge_options how;
};

// Whether `|` can copy the stage: `|` copies a stage that has a name, and moves others.
template <class... Inputs>
inline constexpr bool is_copyable<merge_stage<Inputs...>> = (is_copyable<Inputs> && ...);

}  // namespace detail

/// Joins pipelines, each with a source and without a sink, into one:
///
///     auto p = weir::merge({.order = weir::merge_order::round_robin}, cats, dogs) | weir::sink();
///
/// Order:  each input keeps its order; `merge_options::order` is the order between inputs. With epochs: an
///         epoch ends when each input has ended the epoch, or has ended; only then the inputs continue with
///         the next epoch.
/// Ends:   when all inputs have ended, or one: see `merge_options::until_first_end`.
/// Errors: a failure in an input, beyond those that `max_failures` allows, ends this input and the run, as in
///         any stage. No epoch ends after such a failure.
/// Cost:   a slot (worker) for each input, which holds at most one item.
template <class... Inputs>
class [[nodiscard]] merge : public detail::joined_stage_t<detail::merge_stage, Inputs...> {
    static_assert(detail::are_pipelines<Inputs...>,
                  "weir: merge is given pipelines, one or more; an argument is none, or there is none");

  public:
    using described = detail::joined_stage_t<detail::merge_stage, Inputs...>;  // what `|` keeps

    /// \param settings  see `merge_options`.
    explicit merge(merge_options settings, Inputs&&... inputs)
        : described(std::move(settings), std::forward<Inputs>(inputs)...) {}
    /// With default options. \param where  the source location of the call, for reports.
    explicit merge(Inputs&&... inputs, std::source_location where = detail::call_place::current())
        : merge(merge_options{.where = where}, std::forward<Inputs>(inputs)...) {}
};
template <class... Inputs>
merge(merge_options, Inputs&&...) -> merge<Inputs...>;
template <class... Inputs>
merge(Inputs&&...) -> merge<Inputs...>;

}  // namespace weir

#endif
