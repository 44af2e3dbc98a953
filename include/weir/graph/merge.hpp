// weir graph: `merge`, which joins the items of several pipelines into one stream
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_MERGE_HPP
#define WEIR_GRAPH_MERGE_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/fan_in.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>
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
#include <tuple>            // for std::tuple
#include <type_traits>      // for std::is_same_v
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// The options of `merge`.
struct merge_options {
    std::string name = {};  ///< see `stage_options::name`
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;
    /// Which input gives the next item.
    merge_order order = merge_order::arrival;
    /// The weights of the inputs, for `merge_order::weighted` and `random`; 0 or more, in any unit. Empty:
    /// all are equal. An input of weight 0 has its turn when all others have ended.
    std::vector<double> weights = {};
    /// The seed of `merge_order::random`: equal seeds give equal orders, on every platform and schedule. Each
    /// epoch has another order.
    std::uint64_t seed = 0;
    /// A function of the user, instead of an order: returns the index of the input that has the next turn.
    /// The argument has the indices of the inputs that may have more items in this epoch, ascending. If the
    /// chosen input has none, the function is called again, without this index. Each run has a copy.
    /// Threads: the stage's threads, one call at a time. Errors: an exception, or an index that is not in the
    /// argument, stops the run, as a failure of the merge. Lifetime: objects that it refers to outlive the
    /// run.
    std::function<std::size_t(std::span<const std::size_t>)> rule = nullptr;
    /// Whether the stage ends when one of the inputs has ended, not when all have: in an order with turns,
    /// when it is the turn of this input, so that the result does not depend on the schedule; by arrival and
    /// by priority, at once. Items that the other inputs have made by then are destroyed.
    bool until_first_end = false;
    /// See `stage_options::where`.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class First, class... Given>
struct merged {
    using type = First;
    static_assert((std::is_same_v<First, Given> && ...),
                  "weir: the pipelines that are merged have to give items of one type, all with epochs or "
                  "all without; their types are those of merged<...> in this message");
};

template <class... Inputs>
struct merge_stage : stage_of_inputs<Inputs...> {
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

template <class... Inputs>
inline constexpr bool is_copyable<merge_stage<Inputs...>> = (is_copyable<Inputs> && ...);

}  // namespace detail

/// Joins pipelines, each with a source and without a sink, into one:
///
///     auto p = weir::merge({.order = weir::merge_order::round_robin}, cats, dogs) | weir::sink();
///
/// Order:  each input keeps its order; `merge_options::order` is the order between inputs. With epochs: an
///         epoch ends when it has ended in all inputs; only then they continue with the next epoch.
/// Ends:   when all inputs have ended, or one: see `merge_options::until_first_end`.
/// Errors: a failure in an input ends this input, and the run, as in any stage. No epoch ends after it.
/// Cost:   a slot for each input, which holds at most one item.
template <class... Inputs>
class [[nodiscard]] merge : public detail::joined_stage_t<detail::merge_stage, Inputs...> {
    static_assert(detail::are_pipelines<Inputs...>,
                  "weir: merge is given pipelines, one or more; an argument is none, or there is none");

  public:
    using described = detail::joined_stage_t<detail::merge_stage, Inputs...>;

    /// \param settings  see `merge_options`.
    explicit merge(merge_options settings, Inputs&&... inputs)
        : described(std::move(settings), std::forward<Inputs>(inputs)...) {}
    /// With default options. \param where  see `stage_options::where`.
    explicit merge(Inputs&&... inputs, std::source_location where = detail::call_place::current())
        : merge(merge_options{.where = where}, std::forward<Inputs>(inputs)...) {}
};
template <class... Inputs>
merge(merge_options, Inputs&&...) -> merge<Inputs...>;
template <class... Inputs>
merge(Inputs&&...) -> merge<Inputs...>;

}  // namespace weir

#endif
