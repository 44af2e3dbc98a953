// weir graph, internal: the stage that joins several queues into one, and the order in which it takes items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_FAN_IN_HPP
#define WEIR_GRAPH_FAN_IN_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint64_t, std::uint8_t
#include <exception>   // for std::current_exception
#include <functional>  // for std::function
#include <span>        // for std::span
#include <stdexcept>   // for std::out_of_range
#include <string>      // for std::to_string
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir {

/// The order in which the inputs of a `merge` give items.
enum class merge_order {
    arrival,      ///< as items arrive
    round_robin,  ///< one item of each input in turn; waits for the input whose turn it is
    weighted,     ///< each input as often as its weight says, evenly; waits for the input whose turn it is
    priority,     ///< of the inputs that have an item, the earliest among the arguments of `merge`
    random        ///< turns drawn by weight (`merge_options::seed`); waits for the input whose turn it is
};

namespace detail {

// The request of an input to put its next item, or the mark that ends an epoch (a pass over the data).
struct merge_ticket {
    std::size_t input = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// The rule of a `wait_queue` (a line of waiting slots) for the slots (workers) of a `running_fan_in`, one for
// each input. Decides which input may put its item. The mark of an epoch is put once, when each input has
// reached its mark or has ended. Only then the inputs continue with the next epoch.
//
// The orders `arrival` and `priority` have no turns, unless the user gives a rule. In all other orders, the
// turns depend on the items of the inputs, and not on the times at which these arrive: the end or the mark of
// an input counts only when the input has its turn.
class merge_rule {
  public:
    using ticket = merge_ticket;

    struct settings {  // from `merge_options`
        merge_order order = merge_order::arrival;
        std::vector<double> weights = {};  // one for each input
        std::uint64_t seed = 0;
        bool until_first_end = false;
        bool has_user_rule = false;  // the user's function chooses turns: see claim_choice()
    };

    merge_rule(const settings& how, std::uint64_t first_epoch);

    // The input has an item or a mark to put. Called before `ask`.
    void arrive(const merge_ticket& t) noexcept {
        inputs_[t.input].has = t.mark ? state::mark : state::item;
        skip_ended_inputs();
    }

    // Whether an input may put its item or mark now, has to wait, or is refused. If it is refused, its worker
    // drops the item or mark. `judge` changes nothing; `ask` also records a positive answer.
    admission ask(const merge_ticket& t) noexcept;
    admission judge(const merge_ticket& t) const noexcept;

    // The item or mark was put. `more`: the queue of the input has another item.
    void leave(const merge_ticket& t, bool more) noexcept;

    // The input has ended. `early`: items may be missing from now on, as after a stop or a failure.
    void end(std::size_t which, bool early = false) noexcept;
    // Returns true if the user's function has to choose the next turn, and no other thread calls the
    // function. `with_turns`, which has capacity for all inputs, then has the inputs with turns. The caller
    // calls `choose` with one of these inputs, or `close`.
    bool claim_choice(std::vector<std::size_t>& with_turns) noexcept;
    void choose(std::size_t which) noexcept {  // gives the input `which` the turn
        turn_ = which;
        skip_ended_inputs();
    }

    void close() noexcept { closed_ = true; }
    bool is_closed() const noexcept { return closed_; }
    bool is_incomplete() const noexcept { return incomplete_; }

  private:
    enum class state : std::uint8_t { nothing, item, mark, end };
    struct input {
        bool has_ended_epoch() const noexcept { return has == state::mark || has == state::end; }
        state has = state::nothing;
        bool has_no_turn = false;  // the input has no more turns in this epoch
        double weight = 1;
        double credit = 0;        // see next_by_weight()
        std::uint64_t share = 0;  // the weight as a whole number
    };

    // If the input whose turn it is has ended, or has ended the epoch, another input gets the turn; with
    // `until_first_end`, an end of that input closes the rule: nothing more is put. An input that loses
    // its turns sets all credits to 0: the credits of the inputs with turns have to sum to 0.
    void skip_ended_inputs() noexcept;

    void next_turn() noexcept;  // gives an input the turn, or asks for a choice of the user

    // Smooth weighted round robin (as in nginx): the credit of each input that has turns grows by its weight.
    // The input with the greatest credit has the turn; its credit falls by the sum of these weights. If all
    // of these weights are 0, each counts as 1.
    void next_by_weight() noexcept;

    // Draws the next turn, with probabilities proportional to the weights of the inputs that have turns; if
    // all weights are 0, with equal ones. The draws of an epoch don't depend on other epochs.
    void next_by_draw() noexcept;

    bool no_input_has_turns() const noexcept;

    // The `share` of the greatest weight: 2^52. The shares of up to 4095 inputs then sum to less than 2^64.
    static constexpr double greatest_share = static_cast<double>(std::uint64_t{1} << 52U);

    merge_order order_;
    std::vector<input> inputs_;
    bool until_first_end_;
    bool has_user_rule_;
    bool choice_due_ = false;  // the user's function has to be called, and no thread has claimed the call
    std::uint64_t epoch_;      // whose items are put now
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;  // the number of draws in this epoch
    std::size_t turn_ = 0;     // the input that has the turn; if no input has: the number of inputs
    std::size_t next_ = 0;     // the input that is tried first for the next turn, in an order without weights
    bool busy_ = false;        // an input was admitted, and has not put its item or mark yet
    bool closed_ = false;      // nothing more is put
    bool incomplete_ = false;  // an input has ended early: no further mark is put
};

// A function of the user that chooses the next input: see `merge_options::rule`.
using merge_choice = std::function<std::size_t(std::span<const std::size_t>)>;

// Returns `which`, a result of a `merge_choice`. Throws if `which` is not in `open`, the inputs that may
// have more items.
inline std::size_t checked_choice(std::size_t which, const std::vector<std::size_t>& open) {
    std::string all;
    for (const std::size_t each : open) {
        if (each == which) return which;
        all += (all.empty() ? "" : ", ") + std::to_string(each);
    }
    throw std::out_of_range("weir: the rule of a merge chose input " + std::to_string(which) +
                            "; those that may have more to give are " + all);
}

// The stage that joins the inputs of a merge, or the branches of a route. Takes from several queues, with a
// slot (worker) for each queue, and puts into one queue, in the order of a `merge_rule`. With `as_they_come`,
// no slot waits for a turn. The worker (stages/stage_worker.hpp) calls the public functions for each item.
template <class C, class Policy>
class running_fan_in : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;
    using queue = channel<C, Policy>;
    using typename base::slot;

  public:
    using iteration = typename base::template iteration_with<merge_ticket>;
    // The stage calls no function whose time counts, and puts the items themselves.
    static constexpr stage_traits traits{.counts_tasks = false, .forwards_item = true};

    running_fan_in(run_context& run, const stage_options& options, const char* kind, merge_rule rule,
                   bool as_they_come, merge_choice choice, std::vector<queue*> in, queue& out)
        : base(run, kind, options, nullptr, &out), ins_(std::move(in)), as_they_come_(as_they_come),
          choice_(std::move(choice)), turns_(std::move(rule), "for its turn to merge"),
          is_in_split_(run.is_in_split()) {
        with_turns_.reserve(ins_.size());
    }

    void take(intake<queue>& next, slot& me, iteration& it) noexcept {  // from the queue of this slot
        it.input = me.number();
        next.prepare(*ins_[it.input]);
    }
    void on_item(iteration& it) noexcept {  // completes the ticket
        it.epoch = it.place.epoch;
        it.mark = it.place.mark;
    }
    C* next_result(iteration& it) noexcept { return it.item; }

    bool is_ordered() const noexcept { return !as_they_come_; }
    auto wait_for_turn(const merge_ticket& next, slot& me) noexcept {  // the worker awaits the result
        turns_.update([&next](merge_rule& rule) { rule.arrive(next); }, me);
        make_choices(me);
        return turns_.wait(next, me, slot_state::wait_turn);
    }
    bool leave_turn(const iteration& it) noexcept {  // the item is put; false: the stage ends
        const bool more = ins_[it.input]->size() > 0;
        turns_.update([&it, more](merge_rule& rule) { rule.leave(it, more); }, it.context->slot);
        make_choices(it.context->slot);
        return !is_closed();
    }
    bool continues_when_output_closed(const iteration&) noexcept {  // the stage ends
        turns_.update([](merge_rule& rule) { rule.close(); });
        return false;
    }
    // Whether a worker that was refused ends: true if the run stops, the rule was closed, or an input has
    // ended early. Otherwise another slot has put the mark (end of an epoch) for all inputs, and the worker
    // drops the mark of its own input.
    bool ends_when_refused() const noexcept {
        return this->run_.own_stop().stop_requested() ||
               turns_.read([](const merge_rule& rule) { return rule.is_closed() || rule.is_incomplete(); });
    }

    void close_input(slot& me) noexcept {  // the worker of one input ends
        ins_[me.number()]->cancel();
        // In a branch of a `split`, which divides batches, no part that begins after an input has ended is
        // complete.
        const bool early = is_in_split_ || this->may_end_early();
        turns_.update([&me, early](merge_rule& rule) { rule.end(me.number(), early); });
        make_choices(me);
        if (is_closed()) {
            for (queue* const other : ins_) other->cancel();
        } else if (this->run_.has_failed()) {
            // The other slots still take the items that the inputs have made, also those whose puts wait for
            // room in a queue.
            for (queue* const other : ins_) other->close_to_newcomers();
        }
    }

  private:
    // Calls the function of the user as long as a turn has to be chosen. The lock of the rule is not held
    // during the call. Threads call the function one at a time, as only one thread can claim a choice. An
    // exception, or a chosen input without turns, fails the stage and closes the rule.
    void make_choices(slot& me) noexcept {
        if (!choice_) return;
        const auto claims = [this] {
            bool is_claimed = false;
            turns_.update(
                [this, &is_claimed](merge_rule& rule) { is_claimed = rule.claim_choice(with_turns_); });
            return is_claimed;
        };
        while (claims()) {
            try {
                const std::size_t which = detail::checked_choice(choice_(with_turns_), with_turns_);
                ++choices_;
                turns_.update([which](merge_rule& rule) { rule.choose(which); });
            } catch (...) {
                this->fail_stage(me, choices_, std::current_exception());
                turns_.update([](merge_rule& rule) { rule.close(); });
            }
        }
    }

    bool is_closed() const noexcept {
        return turns_.read([](const merge_rule& rule) { return rule.is_closed(); });
    }

    std::vector<queue*> ins_;  // by slot
    const bool as_they_come_;
    merge_choice choice_;                  // null: no rule of the user
    std::vector<std::size_t> with_turns_;  // the inputs that `choice_` may choose
    std::uint64_t choices_ = 0;            // calls of `choice_` that have returned a valid input
    wait_queue<merge_rule> turns_;
    const bool is_in_split_;  // joins a `route` in a branch of a `split`
};

// Adds a stage that joins the queues `in` into a new queue, and returns the new queue. The stage has one slot
// for each of these queues; `options.concurrency` is ignored. If `how.weights` is empty, all weights are 1.
template <class Policy, class C>
channel<C, Policy>& attach_fan_in(run_core<Policy>& run, const char* kind, stage_options options,
                                  merge_rule::settings how, std::vector<channel<C, Policy>*> in,
                                  merge_choice choice = nullptr) {
    options.concurrency = in.size();
    if (how.weights.empty()) how.weights.assign(in.size(), 1);
    how.has_user_rule = static_cast<bool>(choice);
    auto& out = run.template add_queue<C>(options);
    std::vector<queue_id> inputs(in.begin(), in.end());
    const bool as_they_come =
        how.order == merge_order::arrival && !is_epoch_item<C> && !how.until_first_end && !how.has_user_rule;
    merge_rule rule(how, run.first_epoch());
    run.template add<stage_of<running_fan_in<C, Policy>>>(std::move(inputs), {&out}, options, kind,
                                                          std::move(rule), as_they_come, std::move(choice),
                                                          std::move(in), out);
    return out;
}

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/graph/fan_in.ipp>
#endif

#endif
