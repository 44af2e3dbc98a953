// weir stages: the description of a pipeline, made of stages by `|`, which starts runs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PIPELINE_HPP
#define WEIR_STAGES_PIPELINE_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_row.hpp>
#include <weir/task/awaitable.hpp>

#include <cstddef>      // for std::size_t
#include <ostream>      // for std::ostream
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_same_v
#include <utility>      // for std::forward

namespace weir {

template <class T, class Policies>
class stage_list;

namespace detail {

template <class P>
inline constexpr bool is_stage_list = false;
template <class T, class Policies>
inline constexpr bool is_stage_list<stage_list<T, Policies>> = true;

template <class S>
concept stage = stage_description<S> || is_stage_list<std::remove_cvref_t<S>>;

// An operand of `|`.
template <class P>
concept composable = stage<P> || is_pipeline<std::remove_cvref_t<P>>;

// Returns the row of the stages of an operand.
template <class P>
auto stages_of(P&& part) {
    constexpr bool fits = !std::is_lvalue_reference_v<P> || is_copyable<stage_kept_t<P>>;
    static_assert(fits,
                  "weir: what has a name is copied into a pipeline, and a stage of this can't be copied (a "
                  "generator, or what holds an object that only moves): std::move(it) | ...");
    if constexpr (!fits) {
        return no_stages();
    } else if constexpr (is_pipeline<std::remove_cvref_t<P>>) {
        return std::forward<P>(part).stages();
    } else {
        return stage_row<no_stages, stage_kept_t<P>>{{}, std::forward<P>(part)};
    }
}

}  // namespace detail

/// A row of stages. A value: it can be named, joined with others by `|`, changed by stage name, and copied. A
/// pipeline can be started any number of times, on real or virtual time; each start gives an independent run.
/// (If a stage can't be copied, the pipeline moves into its only run.) Only a complete pipeline can be
/// started. At its front is a source, or a `merge` or `zip` of pipelines; at its end a sink, a `for_each`, or
/// another stage in place of a sink.
///
///     auto prepare = weir::pipe(decode) | weir::pipe(resize, {.concurrency = 4});
///     auto loader = weir::source(files) | prepare | weir::aggregate(32) | weir::sink();
///     auto run = loader.start(pool);
///
/// All stages run at the same time. A queue lies between each two stages, with the name of the stage before
/// it; the first queue is "src" by default. The consumer, the user's code that takes the results, takes from
/// the last queue, "sink". For the default names of other stages see `stage_options::name`.
template <class Row>
class pipeline {
    static_assert(detail::is_stage_row<Row>,
                  "weir: a pipeline's type is made of stages, and not written by hand: let | make it, "
                  "auto p = weir::source(...) | weir::sink()");

  public:
    /// Use `|`, which checks that the stages fit.
    explicit pipeline(Row stages) : stages_(std::move(stages)) {}

    /// Starts a run on an executor, and returns at once. In a coroutine, write the call as a statement of its
    /// own: g++ 12 destroys options that are built inside an awaited expression twice.
    ///
    /// \tparam Policy   `summed` for a run without histograms, `unmeasured` for a run without statistics.
    /// \param ex      the executor of all stages without one of their own; the run uses its clock. On
    ///                  virtual time all stages run on this executor.
    /// \param options   see `run_options`.
    /// Errors:   `std::invalid_argument` that names the stage and the wrong option, before anything has
    ///           started. `forked_error` on a pool that was made before the process forked.
    /// Lifetime: the run has copies of the stages' functions (from an rvalue pipeline: the functions
    ///           themselves), so the pipeline may be destroyed. The executors outlive the run.
    template <class Policy = measured>
    [[nodiscard("destroying the run stops it: keep it, and take its items")]]
    auto start(executor& ex, run_options options = {}) const& {
        static_assert(Row::copyable,
                      "weir: a stage of this pipeline can't be copied (a generator, or what holds an object "
                      "that only moves), so it is good for one run: std::move(pipeline).start(executor)");
        if constexpr (Row::copyable) return start_with<Policy>(*this, ex, std::move(options));
    }
    template <class Policy = measured>
    [[nodiscard("destroying the run stops it: keep it, and take its items")]]
    auto start(executor& ex, run_options options = {}) && {
        return start_with<Policy>(std::move(*this), ex, std::move(options));
    }

    /// Rejects arguments other than an executor, and temporary executors, at compile time.
    template <class Policy = measured, class Ex = std::nullptr_t>
        requires(!std::is_convertible_v<Ex, executor&>)
    auto start(Ex&& = nullptr, run_options = {}) const {
        static_assert(std::is_convertible_v<Ex, executor&>,
                      "weir: a pipeline is started on an executor that outlives the run: a thread_pool, a "
                      "run_loop, virtual_time, or what derives from weir::executor, with a name");
    }
    /// Rejects options of another type at compile time.
    template <class Policy = measured, class Options>
        requires(!std::is_convertible_v<Options, run_options>)
    auto start(executor&, Options&&) const {
        static_assert(std::is_convertible_v<Options, run_options>,
                      "weir: the options of a run are given by their names, and this is none: "
                      "start(pool, {.stop = token})");
    }

    /// Rejects, at compile time, a loop over the pipeline: only a run has items.
    template <class Policy = measured>
    detail::not_an_iterator<int> begin() const {
        static_assert(std::is_void_v<Policy>,
                      "weir: a pipeline is a description, and holds no items: start it, and take them from "
                      "its run: auto run = pipeline.start(pool); for (auto& x : run)");
        return {};
    }
    detail::not_an_iterator<int> end() const { return {}; }

    /// The options of the stage with this name, to be changed before a start.
    /// Errors: `std::invalid_argument` if no stage, or more than one, has that name.
    /// Lifetime: that of the pipeline.
    [[nodiscard]] stage_options& options(std::string_view name) {
        stage_options* found = nullptr;
        std::size_t matches = 0;
        std::string names;
        const auto look = [&](stage_options& each) {
            names += (names.empty() ? "'" : ", '") + each.name + "'";
            if (each.name != name) return;
            found = &each;
            ++matches;
        };
        each_options(*this, look);
        if (matches == 1) return *found;
        throw std::invalid_argument(
            "weir: " + std::string(matches == 0 ? "no stage" : "more than one stage") +
            " of this pipeline is named '" + std::string(name) + "'; its stages are " + names);
    }

    /// Prints the names of the stages, with the concurrency if that is not 1:
    /// `src | decode[4] | aggregate | sink`. A width of the stream applies to the whole text; the stream's
    /// locale and format of numbers do not matter.
    friend std::ostream& operator<<(std::ostream& out, const pipeline& p) {
        std::string text;
        const auto print = [&](const stage_options& each) {
            text += (text.empty() ? "" : " | ") + each.name;
            if (each.concurrency != 1) text += "[" + std::to_string(each.concurrency) + "]";
        };
        each_options(p, print);
        return out << text;
    }

    // Calls `function` with the options of each stage, and of the stages nested in it, such as branches.
    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        Row::each_options(self.stages_, function);
    }

    // Adds the stages to a run: behind the queue `in`, or behind none if they begin with a source.
    template <class Self, class Policy, class... In>
    static auto& attach(Self&& self, detail::run_core<Policy>& run, In&... in) {
        return Row::attach(std::forward<Self>(self).stages(), run, in...);
    }

    [[nodiscard]] const Row& stages() const& noexcept { return stages_; }
    [[nodiscard]] Row&& stages() && noexcept { return std::move(stages_); }

  private:
    template <class Policy, class Whole>
    static auto start_with(Whole&& whole, executor& ex, run_options options) {
        static_assert(Row::complete,
                      "weir: only a complete pipeline can be started: put weir::source(...) at its "
                      "front, and weir::sink(...) or weir::for_each(...) at its end");
        if constexpr (Row::complete) {
            using item = typename detail::given_by_row<Row>::type;
            using policy = detail::checked_policy_t<Policy>;
            auto core = detail::owned<detail::run_core<policy>>(
                new detail::run_core<policy>(ex, detail::with_defaults(std::move(options))));
            auto& end = attach(std::forward<Whole>(whole), *core);
            core->start();
            return run<item, policy>(std::move(core), end);
        }
    }

    Row stages_;
};

namespace detail {

// Gives each stage its place in the pipeline, which is part of the stage's default name: "pipe#3". A class,
// so that all pipelines share one type: each lambda has a type of its own.
struct placing {
    std::size_t* next;
    void operator()(kept_options& each) const { each.set_place((*next)++); }
};

template <class Row>
auto make_pipeline(Row&& stages) {
    // With a source, all item types are known. `given_by_row` then rejects a stage with a wrong item type.
    if constexpr (Row::begins) static_cast<void>(sizeof(given_by_row<Row>));
    // A sink without a given capacity gets the default, which depends on the item type.
    if constexpr (Row::complete && is_sink<typename Row::last_type>)
        if (auto& room = stages.last.options.capacity; room == 0)
            room = usual_in_sink<typename given_by_row<Row>::type>;
    std::size_t place = Row::begins ? 0 : 1;  // 0 is the place of the source
    placing visitor{&place};
    Row::each_options(stages, visitor);
    return pipeline<Row>(std::forward<Row>(stages));
}

/// Joins two operands: the stages of the right one follow those of the left one. Copies lvalues.
template <composable Left, composable Right>
[[nodiscard]] auto operator|(Left&& left, Right&& right) {
    using front = decltype(detail::stages_of(std::forward<Left>(left)));
    using back = decltype(detail::stages_of(std::forward<Right>(right)));
    static_assert(
        !front::ends,
        "weir: nothing can come after a sink or a for_each: it is the end of a pipeline, and there is one");
    static_assert(!back::begins,
                  "weir: a source can only come first: it takes no items from a stage before it");
    if constexpr (front::ends) {
        return detail::make_pipeline(detail::stages_of(std::forward<Left>(left)));
    } else {
        return detail::make_pipeline(detail::join(detail::stages_of(std::forward<Left>(left)),
                                                  detail::stages_of(std::forward<Right>(right))));
    }
}

/// Rejects an operand that is no part of a pipeline, at compile time. Returns the other operand, so that only
/// one message appears.
template <class Left, class Right>
    requires(composable<Left> != composable<Right>)
auto operator|(Left&& left, Right&& right) {
    static_assert(composable<Left>,
                  "weir: what stands left of this | is no part of a pipeline: items come from "
                  "weir::source(...), functions are put into weir::pipe(...)");
    static_assert(composable<Right>,
                  "weir: what stands right of this | is no part of a pipeline: put a function into "
                  "weir::pipe(...), and call what makes a stage, as in weir::sink()");
    if constexpr (composable<Left>) {
        return detail::make_pipeline(detail::stages_of(std::forward<Left>(left)));
    } else {
        return detail::make_pipeline(detail::stages_of(std::forward<Right>(right)));
    }
}

}  // namespace detail

using detail::operator|;  // for operands whose types are all declared in weir itself, as two stage_lists

}  // namespace weir

#endif
