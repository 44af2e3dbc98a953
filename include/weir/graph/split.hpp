// weir graph: `split`, which divides each batch among branches, and joins their results into one batch
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_SPLIT_HPP
#define WEIR_GRAPH_SPLIT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/running_split.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::uint64_t
#include <exception>        // for std::exception_ptr
#include <memory>           // for std::make_shared, std::shared_ptr
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <stdexcept>        // for std::length_error
#include <string>           // for std::string, std::to_string
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// The order of the results of all branches of a `split` in the joined batch.
enum class split_order {
    elements,  ///< each result has the place of its element; a branch gives one for each, in their order
    branches   ///< all results of the first branch, then of the second, ...; any number of results
};

/// The options of `split`.
struct split_options {
    std::string name = {};  ///< for statistics and reports; empty: `split` and the place in the pipeline
    /// The executor of the dividing and the joining stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue before each branch, in parts of batches, and of the queue behind the join,
    /// in batches; at least 1.
    std::size_t capacity = 2;
    split_order order = split_order::elements;  ///< the order of the results in a joined batch
    /// How many batches may fail in the chooser and, counted apart, in the join; one more stops the run. Not
    /// set: these failures count towards the limit of the run, `run_options::max_failures`.
    std::optional<failure_limit> max_failures = std::nullopt;
    /// The source location that reports show for the stage: of the options' braces, or of the call.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class Batch, class D, class Records>
struct joined_batch {                 // the state of the work on one batch
    typename Records::record record;  // how the batch was divided
    std::optional<D> whole;           // the joined batch; none: no branch gave a result
};

// The stage that joins the results of the branches; its worker (stages/stage_worker.hpp) calls the functions.
// `Part`: the item type of the branches' last queues; `D`: that of the queue behind the stage.
template <class Part, class D, class Provenance, class Policy>
class running_split_join : public stage_kind<Part, D, Policy> {
    using base = stage_kind<Part, D, Policy>;
    using queue = channel<Part, Policy>;
    using Batch = carried_value_t<Part>;
    using records = split_records<Provenance>;
    using typename base::slot;

  public:
    using iteration = typename base::template iteration_with<joined_batch<Batch, D, records>>;
    static constexpr stage_traits traits{.works_without_item = is_epoch_item<D>,  // also at the input's end
                                         .gathers_parts = true,    // `work` is called once for all parts
                                         .numbers_results = true,  // counts batches, not parts
                                         .origin = result_origin::all_held};  // of all parts, for traces

    running_split_join(run_context& run, const stage_options& options, split_order order,
                       std::vector<queue*> in, typename base::output_queue& out, std::shared_ptr<records> all)
        : base(run, "join", options, nullptr, &out), order_(order), ins_(std::move(in)),
          records_(std::move(all)), is_in_split_(run.is_in_split()) {}

    void take(intake<queue>& next, slot&, iteration&) noexcept { next.prepare(*ins_[at_]); }
    // In a branch, a mark (message) ends the part of each batch. Returns true at that of the last branch: all
    // parts have come. If keeping a part throws, the whole batch fails: see work().
    bool completes_item(iteration& it, typename base::input& from) noexcept {
        if (it.place.mark) {
            at_ = (at_ + 1) % ins_.size();
            if (at_ != 0) return false;
            it.record = records_->take();
            it.place.mark = it.record.end_of_epoch.has_value();
            open_part_.reset();
            if (is_in_split_ && !it.place.mark) open_part_ = it.record.provenance.epoch();
            return true;
        }
        item_tracer& tracer = it.context->tracer;
        if (tracer.is_on()) tracer.hold(from.queue(), from.number(), it.place.epoch);  // for traces
        this->record_other_work(it.context->slot);
        try {
            parts_.resize(ins_.size());
            parts_[at_].push_back(std::move(it.item->value()));
        } catch (...) {
            if (!lost_) lost_ = std::current_exception();
        }
        return false;
    }
    // If a branch has ended, as by `take(n)`: makes the mark that ends the part (epoch) of an outer split.
    void work(iteration& it) {
        if constexpr (is_epoch_item<D>) {
            if (it.input_ended) {
                if (open_part_ && !this->may_end_early() && !records_->is_cut())
                    it.whole.emplace(D::end_of_epoch(*open_part_));
                return;
            }
            if (it.place.mark) {
                it.whole.emplace(D::end_of_epoch(*it.record.end_of_epoch));
                return;
            }
        }
        auto parts = std::exchange(parts_, {});
        if (lost_) std::rethrow_exception(std::exchange(lost_, nullptr));
        assemble(it, parts);
    }
    void on_skipped(iteration&) noexcept {  // the batch failed before `work` could be called
        parts_.clear();
        lost_ = nullptr;
    }
    // Returns the joined batch. Null: no branch gave an element; or a stop may have made a branch drop some.
    D* next_result(iteration& it) noexcept {
        if (this->run_.may_give_up()) it.whole.reset();
        if (!it.whole) this->acknowledge_drop(std::move(it.record.provenance));
        return detail::pointer_to(it.whole);
    }
    bool is_finished(const iteration& it) const noexcept { return is_epoch_item<D> && it.input_ended; }
    bool tolerates_failure(const iteration&) const noexcept { return true; }
    void acknowledge(iteration& it) noexcept {  // a tolerated failure: checkpoints count it as consumed
        if (it.whole) it.record.provenance = epoch_item_traits<D>::provenance_of(*it.whole);
        this->acknowledge_drop(std::move(it.record.provenance));
    }
    void close_input(slot&) noexcept {  // this stage ends: no part is needed any more
        for (queue* const each : ins_) each->cancel();
    }

  private:
    void assemble(iteration& it, std::vector<std::vector<Batch>>& parts) {  // makes the joined batch
        parts.resize(ins_.size());
        Batch batch;
        if (order_ == split_order::branches) {
            for (auto& of_branch : parts) {
                for (Batch& some : of_branch)
                    for (auto&& element : some) batch.push_back(std::move(element));
            }
        } else {
            restore(it.record, parts, batch);
        }
        it.record.provenance.clear_elementwise();
        if (batch.begin() != batch.end())
            it.whole.emplace(epoch_item_traits<D>::carry(batch, std::move(it.record.provenance)));
    }

    // Puts each result at the place of its element.
    void restore(const typename records::record& record, std::vector<std::vector<Batch>>& parts,
                 Batch& batch) {
        std::size_t size = 0;
        for (const auto& places : record.places) size += places.size();
        std::vector<decltype(batch.begin())> found(size);  // not pointers: std::vector<bool> has none
        for (std::size_t i = 0; i < parts.size(); ++i) {
            std::size_t k = 0;
            for (Batch& some : parts[i]) {
                for (auto each = some.begin(); each != some.end(); ++each) {
                    if (k < record.places[i].size()) found[record.places[i][k]] = each;
                    ++k;
                }
            }
            if (k != record.places[i].size()) {
                throw std::length_error("weir: branch " + std::to_string(i) + " of a split was given " +
                                        std::to_string(record.places[i].size()) +
                                        " elements of a batch and gave " + std::to_string(k) +
                                        "; with .order = weir::split_order::branches that is allowed");
            }
        }
        for (auto& each : found) batch.push_back(std::move(*each));
    }

    const split_order order_;
    std::vector<queue*> ins_;
    std::shared_ptr<records> records_;
    std::size_t at_ = 0;                      // the branch whose part comes next
    std::vector<std::vector<Batch>> parts_;   // of the current batch, by branch
    std::exception_ptr lost_;                 // the exception that keeping a part threw
    const bool is_in_split_;                  // in a branch of an outer split
    std::optional<std::uint64_t> open_part_;  // in an outer split: the epoch (part) without its mark yet
};

template <class Function, class... Branches>
struct split_stage : stage_of_branches<Function, Branches...> {  // the description of a `split`
    static constexpr const char* kind = "split";

    template <class G>
    split_stage(G&& f, split_options o, Branches... parts)
        : stage_of_branches<Function, Branches...>(kind, std::forward<G>(f), o, std::move(parts)...),
          order(o.order) {}

    // The item type of the branches' last queues.
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
        using provenance_type = typename epoch_item_traits<C>::provenance;
        const stage_options join = self.options_of_join();
        const split_order order = self.order;
        auto batches = std::make_shared<split_records<provenance_type>>();
        const bool outside = std::exchange(run.is_in_split(), true);
        auto ends =
            split_stage::template attach_branches<stage_of<running_split<Function, C, Policy>>, part,
                                                  part_of<C>>(std::forward<Self>(self), run, in, batches);
        run.is_in_split() = outside;
        auto& out = run.template add_queue<output<C>>(join);
        std::vector<queue_id> inputs(ends.begin(), ends.end());
        run.template add<stage_of<running_split_join<part_of<C>, output<C>, provenance_type, Policy>>>(
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

/// Divides the elements of each batch (a container with `push_back`) among branches, and joins the results of
/// the branches into one batch:
///
///     weir::split([](const doc& d) { return d.is_long() ? "long" : "short"; },
///                 weir::branch("long", weir::pipe(chop)), weir::branch("short", weir::pipe(pack)))
///
/// \param chooser   called with each element, const; returns the name of a branch, its index, or an awaitable
///                  of one of them. If it can't take an element, called with the whole batch, const; returns
///                  a range of names or indices, one for each element, or an awaitable of such a range.
/// \param branches  each takes one part of every batch as an item; a part may be empty. All branches give
///                  batches of one type. All results from a part belong to the same batch as the part.
/// Order:    batches keep their order; a joined batch without results is dropped. `split_order::elements`
///           takes the n-th result of a branch as that of its n-th element: behind a `disaggregate`, stages
///           with several slots need `output_order::input`, and `shuffle`, `traverse`, `route` are wrong.
/// Errors:   a batch fails if the chooser throws, names no branch, or returns too few or too many names; with
///           `split_order::elements`, also if a branch gives more or fewer results than it was given
///           elements. See `split_options::max_failures`. `std::invalid_argument` if branches share a name.
template <class Function, class... Branches>
class [[nodiscard]] split : public detail::divided_stage_t<detail::split_stage, Function, Branches...> {
    static_assert(detail::are_branches<Branches...>,
                  "weir: behind its chooser a split has branches, one or more, each of them a "
                  "weir::branch(name, part)");

  public:
    using described = detail::divided_stage_t<detail::split_stage, Function, Branches...>;  // what `|` keeps

    /// \param settings  see `split_options`.
    explicit split(Function&& chooser, split_options settings, Branches... branches)
        : described(std::forward<Function>(chooser), std::move(settings), std::move(branches)...) {}
    /// With default options. \param where  the source location of the call, for reports.
    explicit split(Function&& chooser, Branches... branches,
                   std::source_location where = detail::call_place::current())
        : split(std::forward<Function>(chooser), split_options{.where = where}, std::move(branches)...) {}
};
template <class Function, class... Branches>
split(Function&&, split_options, Branches...) -> split<Function, Branches...>;
template <class Function, class... Branches>
split(Function&&, Branches...) -> split<Function, Branches...>;

/// Rejects the name of an overloaded function at compile time.
template <class Function = detail::not_deduced, class = detail::refused_t<Function>, class... Rest>
split(Function, const Rest&...) -> split<Function, Rest...>;

}  // namespace weir

#endif
