// weir graph, internal: how a batch is divided, and how its parts are put together again
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_RUNNING_SPLIT_HPP
#define WEIR_GRAPH_RUNNING_SPLIT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/graph/batch_chooser.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/split_ledger.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/call_traits.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/stage_worker.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::shared_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::length_error
#include <string>     // for std::to_string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

namespace detail {

template <class Batch, class Ledger>
struct divided_batch {
    std::vector<Batch> parts;
    typename Ledger::entry entry;
    std::uint64_t number = 0;  // as an epoch of the branches
    std::size_t next_part =
        0;  // what is to be given next: of branch `next_part / 2`, its part, then the mark behind
    std::optional<epoch_item<Batch>> result;
};

// Inside of the branches each batch is an epoch: so what is made of its parts stays together, whatever
// the branches' stages do with it.
template <class Function, class C, class Policy>
class running_split : public stage_kind<C, epoch_item<carried_value_t<C>>, Policy> {
    using Batch = carried_value_t<C>;
    using part = epoch_item<Batch>;
    using base = stage_kind<C, part, Policy>;
    using load = epoch_item_traits<C>;
    using queue = channel<part, Policy>;
    using ledger = split_ledger<typename load::provenance>;
    using choice = split_choice<Function, Batch>;

  public:
    using iteration = typename base::template iteration_with<divided_batch<Batch, ledger>>;
    static constexpr stage_traits traits{.forwards_item = true};  // something is left of it if it fails

    running_split(run_context& run, const stage_options& options, Function&& f, branch_names names,
                  channel<C, Policy>& in, std::vector<queue*> out, std::shared_ptr<ledger> batches)
        : base(run, "split", options, &in, nullptr), f_(std::move(f)), names_(std::move(names)),
          branches_{std::move(out)}, batches_(std::move(batches)), number_(run.first_epoch()) {}

    auto work(iteration& it) {
        if constexpr (choice::waits) {
            return choose(it);
        } else if (!it.place.mark) {
            prepare(it);
            auto& batch = load::value_of(*it.item);
            if constexpr (choice::is_of_batch) {
                assign_all(it, detail::call(f_, std::as_const(batch), nullptr));
            } else {
                std::size_t place = 0;
                for (auto& element : batch) {
                    assign(it, element, place++,
                           names_.index_of(detail::call(f_, std::as_const(element), nullptr)));
                }
            }
        }
    }
    static task<bool>&& observe(task<bool>& choices, coroutine_env&) noexcept { return std::move(choices); }
    void store_result(iteration&, bool) noexcept {}

    // Into the ledger, now that its parts are sure to follow.
    void commit(iteration& it) noexcept {
        try {
            if (it.place.mark) it.entry.end_of_epoch = it.place.epoch;
            batches_->add(std::move(it.entry), *it.item);
            it.number = number_++;
        } catch (...) {
            it.error = std::current_exception();
        }
    }
    part* next_result(iteration& it) noexcept {
        const std::size_t at = it.next_part / 2;
        if (at == branches_.queues.size()) return nullptr;
        if (it.next_part++ % 2 == 0) {
            if (!it.place.mark) {
                return &it.result.emplace(std::move(it.parts[at]), provenance(it.number));
            }
            ++it.next_part;
        }
        return &it.result.emplace(part::end_of_epoch(it.number));
    }
    queue& output_for(const iteration& it) noexcept { return *branches_.queues[(it.next_part - 1) / 2]; }
    bool is_last_result(const iteration& it) const noexcept {
        return it.next_part == 2 * branches_.queues.size();
    }
    // Without a mark the epochs would run together.
    bool tolerates_failure(const iteration& it) const noexcept { return !it.place.mark; }
    void acknowledge(iteration& it) noexcept { this->acknowledge_drop(load::provenance_of(*it.item)); }
    void close_output(typename base::slot& me) noexcept { this->leave(me, branches_); }

  private:
    // Each choice has to be awaited, one after the other, or that for the whole batch.
    task<bool> choose(iteration& it) {
        prepare(it);
        auto& batch = load::value_of(*it.item);
        if constexpr (choice::is_of_batch) {
            auto pending = detail::call(f_, std::as_const(batch), nullptr);
            auto got = co_await std::move(pending);
            assign_all(it, got);
        } else {
            std::size_t place = 0;
            for (auto& element : batch) {
                auto pending = detail::call(f_, std::as_const(element), nullptr);
                auto got = co_await std::move(pending);
                assign(it, element, place++, names_.index_of(got));
            }
        }
        co_return true;
    }
    void prepare(iteration& it) {
        it.parts.resize(names_.size());
        it.entry.places.resize(names_.size());
    }
    template <class Choices>
    void assign_all(iteration& it, Choices&& choices) const {
        auto& batch = load::value_of(*it.item);
        const std::vector<std::size_t> all = detail::branches_of(choices, batch, names_);
        std::size_t place = 0;
        for (auto& element : batch) {
            assign(it, element, place, all[place]);
            ++place;
        }
    }
    template <class Element>
    static void assign(iteration& it, Element& element, std::size_t place, std::size_t where) {
        it.parts[where].push_back(std::move(element));
        it.entry.places[where].push_back(place);
    }

    Function f_;
    branch_names names_;
    all_of<queue> branches_;
    std::shared_ptr<ledger> batches_;
    std::uint64_t number_;  // of the next batch
};

template <class Batch, class D, class Ledger>
struct joined_batch {
    typename Ledger::entry entry;
    std::optional<D> whole;
};

// `Part`: what the branches give; `D`: the whole batch on its way.
template <class Part, class D, class Note, class Policy>
class running_split_join : public stage_kind<Part, D, Policy> {
    using base = stage_kind<Part, D, Policy>;
    using queue = channel<Part, Policy>;
    using Batch = carried_value_t<Part>;
    using ledger = split_ledger<Note>;
    using typename base::slot;

  public:
    using iteration = typename base::template iteration_with<joined_batch<Batch, D, ledger>>;
    static constexpr stage_traits traits{.gathers_parts = true,
                                         .numbers_results = true,
                                         .origin = result_origin::all_held};

    running_split_join(run_context& run, const stage_options& options, split_order order,
                       std::vector<queue*> in, typename base::output_queue& out,
                       std::shared_ptr<ledger> batches)
        : base(run, "join", options, nullptr, &out), order_(order), ins_(std::move(in)),
          batches_(std::move(batches)) {}

    void take(intake<queue>& next, slot&, iteration&) noexcept { next.comes_from(*ins_[at_]); }
    // When the last branch's part of a batch is at its end. What goes wrong before fails the batch.
    bool completes_item(iteration& it, typename base::input& from) noexcept {
        if (it.place.mark) {
            it.place.mark = false;
            at_ = (at_ + 1) % ins_.size();
            return at_ == 0;
        }
        item_tracer& tracer = it.context->tracer;
        if (tracer.is_on()) tracer.hold(from.queue(), from.number(), it.place.epoch);
        this->record_other_work(it.context->slot);
        try {
            parts_.resize(ins_.size());
            parts_[at_].push_back(std::move(it.item->value()));
        } catch (...) {
            if (!lost_) lost_ = std::current_exception();
        }
        return false;
    }
    void work(iteration& it) {
        it.entry = batches_->take();
        it.place.mark = it.entry.end_of_epoch.has_value();
        auto parts = std::exchange(parts_, {});
        if (lost_) std::rethrow_exception(std::exchange(lost_, nullptr));
        put_together(it, parts);
    }
    // No batch once the run was asked to stop: it would count what a branch has given up because of that.
    D* next_result(iteration& it) noexcept {
        if (this->run_.may_give_up()) it.whole.reset();
        if (!it.whole) this->acknowledge_drop(std::move(it.entry.about));
        return it.whole ? &*it.whole : nullptr;
    }
    bool tolerates_failure(const iteration&) const noexcept { return true; }
    void acknowledge(iteration& it) noexcept { this->acknowledge_drop(std::move(it.entry.about)); }
    void close_input(slot&) noexcept {
        for (queue* const each : ins_) each->cancel();
    }

  private:
    void put_together(iteration& it, std::vector<std::vector<Batch>>& parts) {
        if constexpr (is_epoch_item<D>) {
            if (it.place.mark) {
                it.whole.emplace(D::end_of_epoch(*it.entry.end_of_epoch));
                return;
            }
        }
        parts.resize(ins_.size());
        Batch batch;
        bool any = false;
        if (order_ == split_order::branches) {
            for (auto& of_branch : parts) {
                for (Batch& some : of_branch) {
                    for (auto& element : some) batch.push_back(std::move(element));
                }
            }
            any = batch.begin() != batch.end();
        } else {
            any = restore(it.entry, parts, batch);
        }
        it.entry.about.forget_places();
        if (any) it.whole.emplace(epoch_item_traits<D>::carry(batch, std::move(it.entry.about)));
    }

    // Each result to the place of its element.
    bool restore(const typename ledger::entry& entry, std::vector<std::vector<Batch>>& parts, Batch& batch) {
        using element = typename Batch::value_type;
        std::size_t size = 0;
        for (const auto& places : entry.places) size += places.size();
        std::vector<element*> found(size, nullptr);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            std::size_t k = 0;
            for (Batch& some : parts[i]) {
                for (element& each : some) {
                    if (k < entry.places[i].size()) found[entry.places[i][k]] = &each;
                    ++k;
                }
            }
            if (k != entry.places[i].size()) {
                throw std::length_error("weir: branch " + std::to_string(i) + " of a split was given " +
                                        std::to_string(entry.places[i].size()) +
                                        " elements of a batch and gave " + std::to_string(k) +
                                        "; with .order = weir::split_order::branches that is allowed");
            }
        }
        for (element* each : found) batch.push_back(std::move(*each));
        return size != 0;
    }

    const split_order order_;
    std::vector<queue*> ins_;
    std::shared_ptr<ledger> batches_;
    std::size_t at_ = 0;                     // the branch whose part comes next
    std::vector<std::vector<Batch>> parts_;  // of the batch, by branch
    std::exception_ptr lost_;                // why one of them could not be kept
};

}  // namespace detail

}  // namespace weir

#endif
