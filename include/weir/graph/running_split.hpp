// weir graph, internal: how a batch is divided, and how its parts are put together again
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_RUNNING_SPLIT_HPP
#define WEIR_GRAPH_RUNNING_SPLIT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/graph/branch.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/task.hpp>

#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::int64_t, std::uint64_t
#include <deque>       // for std::deque
#include <exception>   // for std::exception_ptr
#include <functional>  // for std::invoke
#include <memory>      // for std::shared_ptr
#include <mutex>       // for std::lock_guard
#include <optional>    // for std::optional
#include <stdexcept>   // for std::length_error
#include <string>      // for std::to_string
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir {

/// In which order the results of the branches of a `split` form one batch.
enum class split_order {
    elements,  ///< each takes the place of the element it was made of: one result for each is needed
    branches   ///< those of the first branch, then those of the second, ...; any number of them
};

namespace detail {

// What the join has to know of each batch, in their order.
template <class Note>
class split_ledger {
  public:
    struct entry {
        Note about;
        std::vector<std::vector<std::size_t>> places;  // for each branch, of the elements it was given
        std::optional<std::uint64_t> end_of_epoch;     // no batch, but a mark
    };

    // Of `item`, whose provenance it takes if nothing is thrown.
    template <class C>
    void add(entry&& e, C& item) {
        const std::lock_guard guard(lock_);
        entries_.push_back(std::move(e));
        if (!epoch_item_traits<C>::is_mark(item))
            entries_.back().about = epoch_item_traits<C>::provenance_of(item);
    }
    entry take() {
        const std::lock_guard guard(lock_);
        entry e = std::move(entries_.front());
        entries_.pop_front();
        return e;
    }

  private:
    standard_platform::mutex lock_;
    std::deque<entry> entries_;
};

// Inside of the branches each batch is an epoch: so what is made of its parts stays together, whatever
// the branches' stages do with it.
template <class F, class C, class Policy>
class running_split final : public running_stage<Policy> {
    using Batch = carried_value_t<C>;
    using part = epoch_item<Batch>;
    using load = epoch_item_traits<C>;
    using input = channel<C, Policy>;
    using queue = channel<part, Policy>;
    using ledger = split_ledger<typename load::provenance>;
    using call = typename the_chooser<F>::template is_given<typename Batch::value_type>::type;
    static constexpr bool waits = awaitable<call>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_split(run_context& run, const stage_options& options, F&& f, branch_names names, input& in,
                  std::vector<queue*> out, std::shared_ptr<ledger> batches)
        : running_stage<Policy>(run, "split", options), f_(std::move(f)), names_(std::move(names)), in_(in),
          out_(std::move(out)), batches_(std::move(batches)) {}

  private:
    worker make_worker(slot& me) override { return divide(me); }

    worker divide(slot& me) {
        this->arrive(me);
        std::uint64_t number = this->run_.first_epoch();  // of the batch, as an epoch of the branches
        bool over = false;
        while (!over) {
            get_operation<input> get(in_, &me);
            std::optional<C> item = co_await get;
            if (!item) break;
            bool begins = true;
            while (begins && this->is_held_up()) begins = co_await this->admitted(me);
            if (!begins) break;
            std::uint64_t epoch = 0;
            if constexpr (is_epoch_item<C>) epoch = item->epoch();
            const bool is_mark = load::is_mark(*item);
            const std::uint64_t nth =
                get.number() - (is_epoch_item<C> ? epoch - this->run_.first_epoch() : 0);  // no mark counts
            std::vector<Batch> parts;
            typename ledger::entry entry;
            std::exception_ptr error;
            std::size_t hooked = 0;
            if (this->has_hooks() && !is_mark) this->before(me, nth, epoch, hooked, error);
            [[maybe_unused]] const std::int64_t began = me.mark;
            if constexpr (waits) {
                if (!error) {
                    try {
                        task<std::exception_ptr> choosing = divide_later(*item, epoch, parts, entry);
                        error = co_await std::move(choosing);
                    } catch (...) {
                        error = std::current_exception();
                    }
                }
            } else {
                if (!error) error = divide(*item, epoch, parts, entry);
            }
            if (hooked > 0) this->after(me, nth, epoch, hooked, error);
            if (!error) error = enter(*item, entry);
            [[maybe_unused]] std::int64_t spent = 0;
            if constexpr (waits) {
                spent = this->work_done(me, began);
            } else if (error) {
                this->failed(me);
            }
            if (error) {
                if (is_mark) {
                    this->gave_up(me, nth, std::move(error));  // without it the epochs run together
                    break;
                }
                over = !this->tolerates(me, nth, std::move(error));
                if (!over) load::provenance_of(*item).settle();
                continue;
            }
            bool last = false;
            if (!is_mark) {
                if constexpr (waits) {
                    last = !this->succeeded(me, spent);
                } else {
                    last = !this->succeeded(me);
                }
            }
            for (std::size_t i = 0; i < out_.size() && !over; ++i) {
                if (!is_mark) {
                    part some(std::move(parts[i]), provenance(number));
                    put_operation<queue> put(*out_[i], some, &me);
                    const bool taken = co_await put;
                    over = !taken;
                }
                if (!over) {
                    part end = part::end_of_epoch(number);
                    put_operation<queue> put(*out_[i], end, &me);
                    const bool taken = co_await put;
                    over = !taken;
                }
            }
            ++number;
            over = over || last;
        }
        in_.cancel();
        this->leave(me, branches_);
    }

    std::exception_ptr divide(C& item, std::uint64_t epoch, std::vector<Batch>& parts,
                              typename ledger::entry& entry) noexcept {
        try {
            if (prepare(item, epoch, parts, entry)) {
                std::size_t place = 0;
                for (auto& element : load::value_of(item)) {
                    const std::size_t where = names_.place_of(std::invoke(f_, std::as_const(element)));
                    assign(element, place++, where, parts, entry);
                }
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    // The same where each choice has to be awaited, one after the other. What is thrown ends it.
    task<std::exception_ptr> divide_later(C& item, std::uint64_t epoch, std::vector<Batch>& parts,
                                          typename ledger::entry& entry) {
        if (prepare(item, epoch, parts, entry)) {
            std::size_t place = 0;
            for (auto& element : load::value_of(item)) {
                auto pending = std::invoke(f_, std::as_const(element));
                auto got = co_await std::move(pending);
                assign(element, place++, names_.place_of(got), parts, entry);
            }
        }
        co_return std::exception_ptr();
    }

    // False: a mark, of which there is nothing to divide.
    bool prepare(C& item, std::uint64_t epoch, std::vector<Batch>& parts, typename ledger::entry& entry) {
        if (load::is_mark(item)) {
            entry.end_of_epoch = epoch;
            return false;
        }
        parts.resize(names_.size());
        entry.places.resize(names_.size());
        return true;
    }

    template <class Element>
    static void assign(Element& element, std::size_t place, std::size_t where, std::vector<Batch>& parts,
                       typename ledger::entry& entry) {
        parts[where].push_back(std::move(element));
        entry.places[where].push_back(place);
    }

    // Into the ledger, now that its parts are sure to follow.
    std::exception_ptr enter(C& item, typename ledger::entry& entry) noexcept {
        try {
            batches_->add(std::move(entry), item);
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    F f_;
    branch_names names_;
    input& in_;
    std::vector<queue*> out_;
    std::shared_ptr<ledger> batches_;
    all_of<queue> branches_{&out_};
};

// `Part`: what the branches give; `D`: the whole batch on its way.
template <class Part, class D, class Note, class Policy>
class running_split_join final : public running_stage<Policy> {
    using queue = channel<Part, Policy>;
    using output = channel<D, Policy>;
    using Batch = carried_value_t<Part>;
    using ledger = split_ledger<Note>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_split_join(run_context& run, const stage_options& options, split_order order,
                       std::vector<queue*> in, output& out, std::shared_ptr<ledger> batches)
        : running_stage<Policy>(run, "join", options), order_(order), in_(std::move(in)), out_(out),
          batches_(std::move(batches)) {}

  private:
    worker make_worker(slot& me) override { return join(me); }

    worker join(slot& me) {
        this->arrive(me);
        std::uint64_t number = 0;
        bool over = false;
        while (!over) {
            std::vector<std::vector<Batch>> parts;
            std::exception_ptr error;
            for (std::size_t i = 0; i < in_.size() && !over; ++i) {
                while (true) {
                    get_operation<queue> get(*in_[i], &me);
                    std::optional<Part> part = co_await get;
                    over = !part;
                    if (over || part->is_mark()) break;
                    if (!error) error = keep(parts, i, part->value());
                    this->went_on(me);
                }
            }
            bool begins = !over;
            while (begins && this->is_held_up()) begins = co_await this->admitted(me);
            if (!begins) break;
            const std::uint64_t nth = number;
            std::optional<D> whole;
            typename ledger::entry batch = batches_->take();
            if (!batch.end_of_epoch) ++number;
            if (!error) error = put_together(batch, parts, whole);
            if (error) {
                this->failed(me);
                over = !this->tolerates(me, nth, std::move(error));
                if (!over) batch.about.settle();
                continue;
            }
            if (!batch.end_of_epoch) over = !this->succeeded(me);
            if (!whole) {
                batch.about.settle();
                continue;
            }
            put_operation<output> put(out_, *whole, &me);
            const bool taken = co_await put;
            over = over || !taken;
        }
        for (queue* const each : in_) each->cancel();
        this->leave(me, out_);
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    std::exception_ptr keep(std::vector<std::vector<Batch>>& parts, std::size_t branch,
                            Batch& part) noexcept {
        try {
            parts.resize(in_.size());
            parts[branch].push_back(std::move(part));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    std::exception_ptr put_together(typename ledger::entry& entry, std::vector<std::vector<Batch>>& parts,
                                    std::optional<D>& whole) noexcept {
        try {
            if constexpr (is_epoch_item<D>) {
                if (entry.end_of_epoch) {
                    whole.emplace(D::end_of_epoch(*entry.end_of_epoch));
                    return nullptr;
                }
            }
            parts.resize(in_.size());
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
                any = restore(entry, parts, batch);
            }
            if (any) whole.emplace(epoch_item_traits<D>::carry(batch, std::move(entry.about)));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
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
    std::vector<queue*> in_;
    output& out_;
    std::shared_ptr<ledger> batches_;
};

}  // namespace detail

}  // namespace weir

#endif
