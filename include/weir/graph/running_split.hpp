// weir graph, internal: the stage that divides each batch of a split among the branches
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_RUNNING_SPLIT_HPP
#define WEIR_GRAPH_RUNNING_SPLIT_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/graph/branch.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage_worker.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <deque>        // for std::deque
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::shared_ptr
#include <mutex>        // for std::lock_guard
#include <optional>     // for std::optional
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <stdexcept>    // for std::length_error
#include <string>       // for std::to_string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// A queue of records: each tells how a batch was divided, or stands for a mark (the message that ends an
// epoch). The dividing stage adds the record before it puts any part of the batch. The joining stage takes
// the record when it has all parts, so the record is in the queue by then.
template <class Provenance>
class split_records {
  public:
    struct record {
        Provenance provenance;                         // the draws (samples) that the batch was made from
        std::vector<std::vector<std::size_t>> places;  // by branch: the indices of its elements in the batch
        std::optional<std::uint64_t> end_of_epoch;     // of a mark: the epoch that ends; of a batch: none
    };

    // Appends a record, and moves the provenance of `item` into it. An exception leaves `item` unchanged.
    template <class C>
    void add(record&& r, C& item) {
        const std::lock_guard guard(lock_);
        records_.push_back(std::move(r));
        if (!epoch_item_traits<C>::is_mark(item))
            records_.back().provenance = epoch_item_traits<C>::provenance_of(item);
    }
    record take() {
        const std::lock_guard guard(lock_);
        record r = std::move(records_.front());
        records_.pop_front();
        return r;
    }
    // The batches end in the middle of an epoch, without its mark. Called before the branches are closed.
    void cut() {
        const std::lock_guard guard(lock_);
        is_cut_ = true;
    }
    bool is_cut() {
        const std::lock_guard guard(lock_);
        return is_cut_;
    }

  private:
    standard_platform::mutex lock_;
    std::deque<record> records_;
    bool is_cut_ = false;  // see cut()
};

template <class Batch>
struct divided {  // asserts that `Batch` is a container that a split can divide and join
    static constexpr bool fits = requires(Batch& b, typename Batch::value_type element) {
        b.push_back(std::move(element));
        b.begin();
        b.end();
    };
    static_assert(fits,
                  "weir: split divides containers with push_back, its branches are given such and give "
                  "such, and this is none; the type is that of divided<...> in this message");
};

// The element type of the range that a chooser returns for a batch; `names`: whether this type can name a
// branch.
template <class Choices>
struct one_of_choices {
    using type = int;
    static constexpr bool names = false;
};
template <std::ranges::input_range Choices>
struct one_of_choices<Choices> {
    using type = std::ranges::range_value_t<Choices>;
    static constexpr bool names = std::integral<type> || std::is_convertible_v<type, std::string_view>;
};

template <class Function>
struct the_batch_chooser {
    template <class Batch>
    struct is_given : call_traits<Function, const Batch&> {
        static constexpr bool fits = true;
        using chosen = one_of_choices<typename is_given::result>;
        static_assert(chosen::names,
                      "weir: a split's function that chooses for a whole batch returns a range with the name "
                      "or the place of a branch for each element, or something to await that gives one; the "
                      "types are those of the_batch_chooser<...>::is_given<...> in this message");
    };
};

// How the chooser (a function of the user) is called: with each element, or with the whole batch if the
// chooser can't be called with an element.
template <class Function, class Batch, bool Whole>
struct split_choice_of : the_chooser<Function>::template is_given<typename Batch::value_type> {
    static constexpr bool is_of_batch = false;
};
template <class Function, class Batch>
struct split_choice_of<Function, Batch, true> : the_batch_chooser<Function>::template is_given<Batch> {
    static constexpr bool is_of_batch = true;
};
template <class Function, class Batch>
using split_choice = split_choice_of<Function, Batch,
                                     !callable<Function, const typename Batch::value_type&> &&
                                         callable<Function, const Batch&>>;

// Returns the index of a branch for each element of a batch.
template <class Choices, class Batch>
std::vector<std::size_t> branches_of(Choices&& choices, Batch& batch, const branch_names& names) {
    using chosen = typename one_of_choices<std::remove_cvref_t<Choices>>::type;
    std::vector<std::size_t> all;
    for (auto&& each : choices) {
        const chosen where(each);  // converts the proxy of a vector<bool>
        all.push_back(names.index_of(where));
    }
    const auto elements = static_cast<std::size_t>(std::ranges::distance(batch.begin(), batch.end()));
    if (all.size() != elements) {
        throw std::length_error("weir: a split's function chose " + std::to_string(all.size()) +
                                " branches for the " + std::to_string(elements) +
                                " elements of a batch; it gives one for each, in their order");
    }
    return all;
}

template <class Batch, class Records>
struct divided_batch {         // the state of the work on one batch
    std::vector<Batch> parts;  // by branch
    typename Records::record record;
    std::uint64_t number = 0;  // the number of the batch: its epoch in the branches
    // The next result goes to branch `next_part / 2`: its part of the batch if `next_part` is even, the mark
    // behind this part if odd.
    std::size_t next_part = 0;
    bool is_last = false;  // the stage ends after this batch: the queue of a branch is closed
    std::optional<epoch_item<Batch>> result;
};

// The dividing stage. In the branches, each batch is an epoch of its own, and no stage mixes items of two
// epochs. So the results of one batch stay together. A mark that ends an epoch of the input becomes an epoch
// without parts. The worker of the stage (stages/stage_worker.hpp) calls the functions for each batch.
template <class Function, class C, class Policy>
class running_split : public stage_kind<C, epoch_item<carried_value_t<C>>, Policy> {
    using Batch = carried_value_t<C>;
    using part = epoch_item<Batch>;
    using base = stage_kind<C, part, Policy>;
    using item_traits = epoch_item_traits<C>;
    using queue = channel<part, Policy>;
    using records = split_records<typename item_traits::provenance>;
    using choice = split_choice<Function, Batch>;

  public:
    using iteration = typename base::template iteration_with<divided_batch<Batch, records>>;
    static constexpr stage_traits traits{.forwards_item = true};  // commit(), acknowledge() use the item

    running_split(run_context& run, const stage_options& options, Function&& f, branch_names names,
                  channel<C, Policy>& in, std::vector<queue*> out, std::shared_ptr<records> all)
        : base(run, "split", options, &in, nullptr), f_(std::move(f)), names_(std::move(names)),
          branches_{std::move(out)}, records_(std::move(all)), number_(run.first_epoch()) {}

    auto work(iteration& it) {
        if constexpr (choice::waits) {
            return choose(it);
        } else if (!it.place.mark) {
            prepare(it);
            auto& batch = item_traits::value_of(*it.item);
            if constexpr (choice::is_of_batch) {
                assign_all(it, detail::call(f_, std::as_const(batch), nullptr));
            } else {
                std::size_t place = 0;
                for (auto&& element : batch) {
                    const std::size_t where =
                        names_.index_of(detail::call(f_, std::as_const(element), nullptr));
                    assign(it, std::move(element), place++, where);
                }
            }
        }
    }
    static task<bool>&& make_awaitable(task<bool>& choices, coroutine_env&) noexcept {  // not wrapped
        return std::move(choices);
    }
    void store_result(iteration&, bool) noexcept {}  // the result of `choose` has no meaning

    // Adds the record for the joining stage. After that the parts of the batch are put into all branches.
    void commit(iteration& it) noexcept {
        try {
            if (it.place.mark) it.record.end_of_epoch = it.place.epoch;
            records_->add(std::move(it.record), *it.item);
            it.number = number_++;
            is_cut_ = !it.place.mark;
        } catch (...) {
            it.error = std::current_exception();
        }
    }
    part* next_result(iteration& it) noexcept {  // for each branch its part, then the mark behind the part
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
    // The part of a branch, or the mark behind the part, was not put, because the queue of the branch is
    // closed: the stage ends. If only the mark was not put, the branch has its part, and the other branches
    // get their parts of the batch first: as with `take`, a stage that closes its input after n items.
    bool continues_when_output_closed(iteration& it) noexcept {
        it.is_last = true;
        is_cut_ = false;
        return it.next_part % 2 == 0;
    }
    bool is_finished(const iteration& it) const noexcept { return it.is_last; }
    // A failed mark is not tolerated: two epochs would become one.
    bool tolerates_failure(const iteration& it) const noexcept { return !it.place.mark; }
    // After a tolerated failure: checkpoints (records of the consumed samples) count the batch as consumed.
    void acknowledge(iteration& it) noexcept { this->acknowledge_drop(item_traits::provenance_of(*it.item)); }
    void close_output(typename base::slot& me) noexcept {
        if (is_cut_) records_->cut();
        this->leave(me, branches_);
    }

  private:
    // For a chooser that returns an awaitable. Calls the chooser with each element, one after the other, or
    // once with the batch, and awaits each result. The result of the task, true, has no meaning.
    task<bool> choose(iteration& it) {
        prepare(it);
        auto& batch = item_traits::value_of(*it.item);
        if constexpr (choice::is_of_batch) {
            auto pending = detail::call(f_, std::as_const(batch), nullptr);
            auto choices = co_await std::move(pending);
            assign_all(it, choices);
        } else {
            std::size_t place = 0;
            for (auto&& element : batch) {
                auto pending = detail::call(f_, std::as_const(element), nullptr);
                auto chosen = co_await std::move(pending);
                assign(it, std::move(element), place++, names_.index_of(chosen));
            }
        }
        co_return true;
    }
    void prepare(iteration& it) {  // makes an empty part for each branch
        it.parts.resize(names_.size());
        it.record.places.resize(names_.size());
    }
    template <class Choices>
    void assign_all(iteration& it, Choices&& choices) const {
        auto& batch = item_traits::value_of(*it.item);
        const std::vector<std::size_t> all = detail::branches_of(choices, batch, names_);
        std::size_t place = 0;
        for (auto&& element : batch) {
            assign(it, std::move(element), place, all[place]);
            ++place;
        }
    }
    // `element` is a value_type&&: a std::vector<bool> gives proxies of elements, which become bools here.
    static void assign(iteration& it, typename Batch::value_type&& element, std::size_t place,
                       std::size_t where) {
        it.parts[where].push_back(std::move(element));
        it.record.places[where].push_back(place);
    }

    Function f_;
    branch_names names_;
    branch_queues<queue> branches_;
    std::shared_ptr<records> records_;
    std::uint64_t number_;  // the epoch of the next batch in the branches
    bool is_cut_ = false;   // an end of the input now would cut an epoch: no branch has ended, no mark came
};

}  // namespace weir::detail

#endif
