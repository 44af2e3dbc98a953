// weir graph: `route`, which sends each item into one of several branches, and joins the branches
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_ROUTE_HPP
#define WEIR_GRAPH_ROUTE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/fan_in.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>          // for std::size_t
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// The options of `route`.
struct route_options {
    std::string name = {};  ///< for statistics and reports; empty: `route` and the place in the pipeline
    /// The executor of the choosing and the joining stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue before each branch and of the queue behind the join, in items, at least 1.
    std::size_t capacity = 2;
    /// For how many items the chooser may fail; one more stops the run. Not set: these failures count towards
    /// the limit of the run, `run_options::max_failures`.
    std::optional<failure_limit> max_failures = std::nullopt;
    /// The source location that reports show for the stage: of the options' braces, or of the call.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class C>
struct routed_item {        // the state of the work on one item
    std::size_t where = 0;  // the index of the branch that gets the item or the mark
    std::optional<C> mark;  // an end-of-epoch mark, made anew for each branch
    bool is_last = false;   // the stage ends after this item or mark: a branch has ended
};

// The stage of a run that calls the chooser, and puts each item into the chosen branch. The worker of the
// stage (stages/stage_worker.hpp) calls the functions for each item.
template <class Function, class C, class Policy>
class running_route : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;
    using queue = channel<C, Policy>;
    using choice = typename the_chooser<Function>::template is_given<carried_value_t<C>>;

  public:
    using iteration = typename base::template iteration_with<routed_item<C>>;
    static constexpr stage_traits traits{.forwards_item = true};  // puts the items themselves

    running_route(run_context& run, const stage_options& options, Function&& f, branch_names names, queue& in,
                  std::vector<queue*> out)
        : base(run, "route", options, &in, nullptr), f_(std::move(f)), names_(std::move(names)),
          branches_{std::move(out)}, ends_with_part_(run.is_in_split()) {}

    decltype(auto) work(iteration& it) {
        if constexpr (choice::waits) {
            return choose(it);
        } else if (this->has_work(it)) {
            store_result(it, choose(it));
        }
    }
    template <class Chosen>
    void store_result(iteration& it, Chosen&& chosen) {  // the branch that the chooser has named
        it.where = names_.index_of(std::forward<Chosen>(chosen));
    }
    // A mark is put into each branch, one after the other.
    C* next_result(iteration& it) noexcept {
        if constexpr (is_epoch_item<C>) {
            if (it.place.mark) {
                it.where = it.mark ? it.where + 1 : 0;
                return &it.mark.emplace(C::end_of_epoch(it.place.epoch));
            }
        }
        return it.item;
    }
    bool is_last_result(const iteration& it) const noexcept {  // a mark has one for each branch
        return !it.place.mark || it.where + 1 == branches_.queues.size();
    }
    queue& output_for(const iteration& it) noexcept { return *branches_.queues[it.where]; }
    // In a branch of a `split`, an epoch is a part of a batch. If a branch of the route has ended, as by a
    // `take(n)` stage, the other branches get the rest of the part, and its mark; then the route ends. The
    // route ends at once if all branches have ended.
    bool continues_when_output_closed(iteration& it) noexcept {
        it.is_last = it.place.mark;
        return ends_with_part_ && !this->may_end_early() && !branches_.are_closed();
    }
    bool is_finished(const iteration& it) const noexcept { return it.is_last; }
    bool tolerates_failure(const iteration&) const noexcept { return true; }
    // For checkpoints (records of the consumed samples): an item whose failure is tolerated counts as
    // consumed, which its provenance (the samples that it was made from) tells the record.
    void acknowledge(iteration& it) noexcept {
        this->acknowledge_drop(base::item_traits::provenance_of(*it.item));
    }
    void close_output(typename base::slot& me) noexcept { this->leave(me, branches_); }

  private:
    decltype(auto) choose(iteration& it) {
        return detail::call(f_, std::as_const(base::item_traits::value_of(*it.item)), nullptr);
    }

    Function f_;
    branch_names names_;
    branch_queues<queue> branches_;
    const bool ends_with_part_;  // in a branch of a `split`: ends only between two parts of batches
};

template <class Function, class... Branches>
struct route_stage : stage_of_branches<Function, Branches...> {  // the description of a `route`
    static constexpr const char* kind = "route";

    template <class G>
    route_stage(G&& f, const route_options& o, Branches... parts)
        : stage_of_branches<Function, Branches...>(kind, std::forward<G>(f), o, std::move(parts)...) {}

    template <class C>
    struct output_of {
        using type = typename rejoined<typename Branches::template output<C>...>::type;
        static_assert(the_chooser<Function>::template is_given<carried_value_t<C>>::fits,
                      "weir: this route can't be; what is wrong is said above");
    };
    template <class C>
    using output = typename output_of<C>::type;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "routes: it sends one item after the other, its concurrency is 1");
        stage_options join = self.options_of_join();
        join.max_failures = std::nullopt;
        auto ends =
            route_stage::template attach_branches<stage_of<running_route<Function, C, Policy>>, C, output<C>>(
                std::forward<Self>(self), run, in);
        return detail::attach_fan_in(run, "join", join, {}, std::move(ends));
    }

    template <class C, class To>
    typename To::ends describe(To& to, typename To::ends from) const {
        return this->template describe_as<C, C, output<C>>(kind, to, from);
    }
};

}  // namespace detail

/// Sends each item into one of several branches, and joins the branches:
///
///     weir::route([](const image& i) { return i.is_raw() ? "raw" : "jpeg"; },
///                 weir::branch("raw", weir::pipe(develop, {.concurrency = 4})),
///                 weir::branch("jpeg", weir::pipe(decode)))
///
/// \param chooser   called with each item, const; returns the name of a branch, its index, or an awaitable of
///                  one of them.
/// \param branches  all give items of one type. A branch without stages passes items on.
/// Order:    each branch gets its items in their order; the join gives items as they arrive from the
///           branches. With epochs (passes over the data): no item overtakes the end of an epoch.
/// Errors:   an item fails if the chooser throws, or names no branch: see `route_options::max_failures`.
///           `std::invalid_argument` if two branches have one name. No epoch ends after a failure that has
///           stopped a branch.
/// Ends:     also with the first item or end of an epoch for a branch that has ended, as by `take`. In a
///           branch of a `split`, then with the part of the batch in which the branch has ended.
/// Cost:     one more queue for each branch. An item for a full branch waits, and so do the items behind it.
template <class Function, class... Branches>
class [[nodiscard]] route : public detail::divided_stage_t<detail::route_stage, Function, Branches...> {
    static_assert(detail::are_branches<Branches...>,
                  "weir: behind its chooser a route has branches, one or more, each of them a "
                  "weir::branch(name, part)");

  public:
    using described = detail::divided_stage_t<detail::route_stage, Function, Branches...>;  // what `|` keeps

    /// \param settings  see `route_options`.
    explicit route(Function&& chooser, route_options settings, Branches... branches)
        : described(std::forward<Function>(chooser), std::move(settings), std::move(branches)...) {}
    /// With default options. \param where  the source location of the call, for reports.
    explicit route(Function&& chooser, Branches... branches,
                   std::source_location where = detail::call_place::current())
        : route(std::forward<Function>(chooser), route_options{.where = where}, std::move(branches)...) {}
};
template <class Function, class... Branches>
route(Function&&, route_options, Branches...) -> route<Function, Branches...>;
template <class Function, class... Branches>
route(Function&&, Branches...) -> route<Function, Branches...>;

/// Refuses the name of an overloaded function at compile time.
template <class Function = detail::not_deduced, class = detail::refused_t<Function>, class... Rest>
route(Function, const Rest&...) -> route<Function, Rest...>;

}  // namespace weir

#endif
