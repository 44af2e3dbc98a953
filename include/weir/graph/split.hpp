// weir graph: one batch divided among branches, and put together again
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_SPLIT_HPP
#define WEIR_GRAPH_SPLIT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/batch_chooser.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/running_split.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>          // for std::size_t
#include <memory>           // for std::make_shared
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <tuple>            // for std::tuple
#include <type_traits>      // for std::decay_t
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// Of `split`.
struct split_options {
    std::string name = {};  ///< see `stage_options::name`
    /// Where the dividing and the joining run; null: where the run was started. Outlives the run.
    weir::executor* executor = nullptr;
    /// Of the queue before each branch and of that behind the join, at least 1.
    std::size_t capacity = 2;
    split_order order = split_order::elements;  ///< of what the branches give for one batch
    /// For how many batches the choice, or the joining, may fail: see `stage_options::max_failures`.
    std::optional<failure_limit> max_failures = std::nullopt;
    /// See `stage_options::where`.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class Batch>
struct divided {
    static constexpr bool fits = requires(Batch& b, typename Batch::value_type element) {
        b.push_back(std::move(element));
        b.begin();
        b.end();
    };
    static_assert(fits,
                  "weir: split divides containers with push_back, its branches are given such and give "
                  "such, and this is none; the type is that of divided<...> in this message");
};

template <class Function, class... Branches>
struct split_stage : stage_of_branches<Function, Branches...> {
    static constexpr const char* kind = "split";

    template <class G>
    split_stage(G&& f, split_options o, Branches... parts)
        : stage_of_branches<Function, Branches...>(kind, std::forward<G>(f), o, std::move(parts)...),
          order(o.order) {}

    // What one of the branches gives, of tracked parts.
    template <class C, bool Fits>
    struct parts_of {
        using type = C;
    };
    template <class C>
    struct parts_of<C, true> {
        using type =
            typename rejoined<typename Branches::template output<epoch_item<carried_value_t<C>>>...>::type;
        static_assert(split_choice<Function, carried_value_t<C>>::fits &&
                          divided<carried_value_t<type>>::fits,
                      "weir: this split can't be; what is wrong is said above");
    };
    template <class C>
    using part_of = typename parts_of<C, divided<carried_value_t<C>>::fits>::type;
    template <class C>
    using output = carry_t<C, carried_value_t<part_of<C>>>;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "splits: it divides one batch after the other, its concurrency is 1");
        using part = epoch_item<carried_value_t<C>>;
        using about = typename epoch_item_traits<C>::provenance;
        const stage_options join = self.options_of_join();
        const split_order order = self.order;
        auto batches = std::make_shared<split_ledger<about>>();
        auto ends =
            split_stage::template attach_branches<stage_of<running_split<Function, C, Policy>>, part,
                                                  part_of<C>>(std::forward<Self>(self), run, in, batches);
        auto& out = run.template add_queue<output<C>>(join);
        std::vector<queue_id> inputs(ends.begin(), ends.end());
        run.template add<stage_of<running_split_join<part_of<C>, output<C>, about, Policy>>>(
            std::move(inputs), {&out}, join, order, std::move(ends), out, std::move(batches));
        return out;
    }

    template <class C, class To>
    typename To::ends describe(To& to, typename To::ends from) const {
        return this->template describe_as<C, epoch_item<carried_value_t<C>>, output<C>>(kind, to, from);
    }

    split_order order;
};

}  // namespace detail

/// Divides each batch (a container with `push_back`) among branches, element by element, and puts what
/// they make of their parts together again as one batch:
///
///     weir::split([](const doc& d) { return d.is_long() ? "long" : "short"; },
///                 weir::branch("long", weir::pipe(chop)), weir::branch("short", weir::pipe(pack)))
///
/// \param chooser   called with each element, const; returns the branch's name, or its place from 0; or
///                  something to await that does, one element after the other. Or, if it can't be called with
///                  an element, called with the whole batch, const, for one look-up instead of many; returns,
///                  or gives when it is awaited, a range with the name or place for each element, in order.
/// \param branches  each is given one part of every batch, which may be empty, as an item; they all give
///                  batches of one type. Whatever a branch gives for its part belongs to that batch.
/// Order:    batches leave in the order in which they came; inside of them as `split_order` says. A batch of
///           which nothing is left is dropped.
/// Errors:   an exception from the chooser, and a branch that isn't there, fail the batch, as
///           does one for more or fewer elements than there are: see `split_options::max_failures`.
///           `std::invalid_argument` for two branches of one name.
template <class Function, class... Branches>
class [[nodiscard]] split : public detail::divided_stage_t<detail::split_stage, Function, Branches...> {
    static_assert(detail::are_branches<Branches...>,
                  "weir: behind its chooser a split has branches, one or more, each of them a "
                  "weir::branch(name, part)");

  public:
    using described = detail::divided_stage_t<detail::split_stage, Function, Branches...>;

    /// \param settings  see `split_options`.
    explicit split(Function&& chooser, split_options settings, Branches... branches)
        : described(std::forward<Function>(chooser), std::move(settings), std::move(branches)...) {}
    /// With none of them set. \param where  see `stage_options::where`.
    explicit split(Function&& chooser, Branches... branches,
                   std::source_location where = detail::call_place::current())
        : split(std::forward<Function>(chooser), split_options{.where = where}, std::move(branches)...) {}
};
template <class Function, class... Branches>
split(Function&&, split_options, Branches...) -> split<Function, Branches...>;
template <class Function, class... Branches>
split(Function&&, Branches...) -> split<Function, Branches...>;

/// Refuses the name of an overloaded function at compile time.
template <class Function = detail::not_deduced, class = detail::refused_t<Function>, class... Rest>
split(Function, const Rest&...) -> split<Function, Rest...>;

}  // namespace weir

#endif
