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
#include <weir/stages/worker_loop.hpp>
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
    std::size_t place = 0;  // what is to be given next: of branch `place / 2`, its part, then the mark behind
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
    using pass = typename base::template hand<divided_batch<Batch, ledger>>;
    static constexpr bool is_tolerant = true;
    static constexpr bool gives_item = true;  // of which something is left if it fails
    static constexpr bool gives_several = true;
    static constexpr bool waits = choice::waits;

    running_split(run_context& run, const stage_options& options, Function&& f, branch_names names,
                  channel<C, Policy>& in, std::vector<queue*> out, std::shared_ptr<ledger> batches)
        : base(run, "split", options, &in, nullptr), f_(std::move(f)), names_(std::move(names)),
          branches_{std::move(out)}, batches_(std::move(batches)), number_(run.first_epoch()) {}

    void work(pass& now) {
        if (now.mine.mark) {
            now.entry.end_of_epoch = now.mine.epoch;
        } else if constexpr (!waits) {
            prepare(now);
            auto& batch = load::value_of(*now.item);
            if constexpr (choice::is_of_batch) {
                assign_all(now, detail::call(f_, std::as_const(batch), nullptr));
            } else {
                std::size_t place = 0;
                for (auto& element : batch) {
                    assign(now, element, place++,
                           names_.index_of(detail::call(f_, std::as_const(element), nullptr)));
                }
            }
        }
    }
    // Each choice has to be awaited, one after the other, or that for the whole batch.
    task<bool> begin(pass& now) {
        prepare(now);
        auto& batch = load::value_of(*now.item);
        if constexpr (choice::is_of_batch) {
            auto pending = detail::call(f_, std::as_const(batch), nullptr);
            auto got = co_await std::move(pending);
            assign_all(now, got);
        } else {
            std::size_t place = 0;
            for (auto& element : batch) {
                auto pending = detail::call(f_, std::as_const(element), nullptr);
                auto got = co_await std::move(pending);
                assign(now, element, place++, names_.index_of(got));
            }
        }
        co_return true;
    }
    static task<bool>&& awaiting(task<bool>& pending, coroutine_env&) noexcept { return std::move(pending); }
    void keep(pass&, bool) noexcept {}

    // Into the ledger, now that its parts are sure to follow.
    std::exception_ptr commit(pass& now) noexcept {
        try {
            batches_->add(std::move(now.entry), *now.item);
            now.number = number_++;
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    part* next(pass& now) noexcept {
        const std::size_t at = now.place / 2;
        if (at == branches_.queues.size()) return nullptr;
        if (now.place++ % 2 == 0) {
            if (!now.mine.mark) {
                return &now.result.emplace(std::move(now.parts[at]), provenance(now.number));
            }
            ++now.place;
        }
        return &now.result.emplace(part::end_of_epoch(now.number));
    }
    queue& output_for(const pass& now) noexcept { return *branches_.queues[(now.place - 1) / 2]; }
    bool is_done(const pass& now) const noexcept { return now.place == 2 * branches_.queues.size(); }
    // Without a mark the epochs would run together.
    bool is_tolerable(const pass& now) const noexcept { return !now.mine.mark; }
    void acknowledge(pass& now) noexcept { this->dismiss(load::provenance_of(*now.item)); }
    void leave_stage(typename base::slot& me) noexcept { this->leave(me, branches_); }

  private:
    void prepare(pass& now) {
        now.parts.resize(names_.size());
        now.entry.places.resize(names_.size());
    }
    template <class Choices>
    void assign_all(pass& now, Choices&& choices) const {
        auto& batch = load::value_of(*now.item);
        const std::vector<std::size_t> all = detail::branches_of(choices, batch, names_);
        std::size_t place = 0;
        for (auto& element : batch) {
            assign(now, element, place, all[place]);
            ++place;
        }
    }
    template <class Element>
    static void assign(pass& now, Element& element, std::size_t place, std::size_t where) {
        now.parts[where].push_back(std::move(element));
        now.entry.places[where].push_back(place);
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
    using pass = typename base::template hand<joined_batch<Batch, D, ledger>>;
    static constexpr bool gathers_parts = true;
    static constexpr made_of results_are_of = made_of::all;
    static constexpr bool is_tolerant = true;
    static constexpr bool numbers_itself = true;

    running_split_join(run_context& run, const stage_options& options, split_order order,
                       std::vector<queue*> in, typename base::output& out, std::shared_ptr<ledger> batches)
        : base(run, "join", options, nullptr, &out), order_(order), ins_(std::move(in)),
          batches_(std::move(batches)) {}

    void take(intake<queue>& next, slot&, pass&) noexcept { next.comes_from(*ins_[at_]); }
    // When the last branch's part of a batch is at its end. What goes wrong before fails the batch.
    bool is_complete(pass& now) noexcept {
        if (now.mine.mark) {
            now.mine.mark = false;
            at_ = (at_ + 1) % ins_.size();
            return at_ == 0;
        }
        this->went_on(now.on->me);
        try {
            parts_.resize(ins_.size());
            parts_[at_].push_back(std::move(now.item->value()));
        } catch (...) {
            if (!lost_) lost_ = std::current_exception();
        }
        return false;
    }
    void work(pass& now) {
        now.entry = batches_->take();
        now.mine.mark = now.entry.end_of_epoch.has_value();
        auto parts = std::exchange(parts_, {});
        if (lost_) std::rethrow_exception(std::exchange(lost_, nullptr));
        put_together(now, parts);
    }
    static bool has_item(const pass&) noexcept { return true; }
    static bool holds(const pass&) noexcept { return false; }
    // No batch once the run was asked to stop: it would count what a branch has given up because of that.
    D* next(pass& now) noexcept {
        if (this->run_.may_give_up()) now.whole.reset();
        if (!now.whole) this->dismiss(std::move(now.entry.about));
        return now.whole ? &*now.whole : nullptr;
    }
    void acknowledge(pass& now) noexcept { this->dismiss(std::move(now.entry.about)); }
    void take_no_more(slot&) noexcept {
        for (queue* const each : ins_) each->cancel();
    }

  private:
    void put_together(pass& now, std::vector<std::vector<Batch>>& parts) {
        if constexpr (is_epoch_item<D>) {
            if (now.mine.mark) {
                now.whole.emplace(D::end_of_epoch(*now.entry.end_of_epoch));
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
            any = restore(now.entry, parts, batch);
        }
        now.entry.about.forget_places();
        if (any) now.whole.emplace(epoch_item_traits<D>::carry(batch, std::move(now.entry.about)));
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
