// weir stages, internal: the state of a slot's worker, for its whole life and for one item; turns; traces
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_ITERATION_HPP
#define WEIR_STAGES_ITERATION_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// The turn in which an item leaves a stage: the item's number at this stage, its epoch (pass over the data),
// and whether it is the mark, a message that ends the epoch.
struct turn {
    std::uint64_t number = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// The order in which items leave a stage. `one_by_one`: in the order of their numbers. If false, the items of
// an epoch leave in any order, after the mark of the epoch before; the mark of an epoch leaves after all its
// items. Numbers have no gaps: a slot waits for the turn of a dropped item, too. The coroutines wait in the
// order of the numbers: if an item has to wait, so do all later ones, unless `block` refuses them.
class turn_rule {
  public:
    using ticket = turn;

    turn_rule(bool one_by_one, std::uint64_t first_epoch) noexcept
        : one_by_one_(one_by_one), epoch_(first_epoch) {}

    // Whether the item of this turn may leave now.
    admission ask(const turn& t) const noexcept {
        if (one_by_one_) {
            if (t.number > blocked_.number) return admission::refused;
            return t.number == left_ ? admission::go : admission::wait;
        }
        if (t.mark ? t.number == left_ : t.epoch == epoch_) return admission::go;
        const bool never = t.mark ? t.epoch >= blocked_.epoch : t.epoch > blocked_.epoch;
        return never ? admission::refused : admission::wait;
    }

    static bool goes_before(const turn& a, const turn& b) noexcept { return a.number < b.number; }

    // The item, or mark, of this turn has left: the next ones may.
    void leave(const turn& t) noexcept {
        ++left_;
        if (t.mark) epoch_ = t.epoch + 1;
    }

    // The stage ends at this turn, for which `leave` is never called: refuses all items that have to leave
    // after it.
    void block(const turn& t) noexcept {
        blocked_.number = detail::smaller(blocked_.number, t.number);
        blocked_.epoch = detail::smaller(blocked_.epoch, t.epoch);
    }

  private:
    bool one_by_one_;
    std::uint64_t left_ = 0;                       // number of items that have left
    std::uint64_t epoch_;                          // the epoch of the items that may leave
    turn blocked_{UINT64_MAX, UINT64_MAX, false};  // the lowest number and epoch of all calls of `block`
};

// Arguments of `output_sequencer::update`. They are classes, as the declarations below name their types.
struct leave_turn {
    const turn& place;
    void operator()(turn_rule& rule) const noexcept { rule.leave(place); }
};
struct block_turn {
    const turn& place;
    void operator()(turn_rule& rule) const noexcept { rule.block(place); }
};

using output_sequencer = wait_queue<turn_rule>;
WEIR_COMPILED(class wait_queue<turn_rule>);
WEIR_COMPILED(class wait_queue<turn_rule>::awaiter<timed_slot<true>>);
WEIR_COMPILED(void wait_queue<turn_rule>::update(leave_turn, timed_slot<true>&));
WEIR_COMPILED(void wait_queue<turn_rule>::update(block_turn));

// Empty placeholder type: used where a stage has no input, no state for an iteration, or no objects for each
// slot.
struct nothing {};

// From which items a stage makes a result: from the current item; from all held items, with the current one
// if `stage_kind::has_item` returns true; or unknown.
enum class result_origin : std::uint8_t { its_item, all_held, unknown };

// Properties of a stage kind (the class of a stage in a run) that choose the worker's code at compile time.
struct stage_traits {
    // True: a call of `work` is a task if `stage_kind::has_work` returned true. Hooks run around the task.
    // Statistics record its time, unless `stage_kind::counts_as_task` then returns false. False: no call is a
    // task.
    bool counts_tasks = true;
    // The task ends with its last result; `fetch_result` makes each result. False: the task ends with `work`.
    bool makes_results_later = false;
    // The item outlives the task: the stage puts the item itself, or needs the item after a failure.
    bool forwards_item = false;
    // `work` is also called when a take ended without an item: the input has ended, items were held as long
    // as they may be, or the kind took nothing, as it makes the item itself.
    bool works_without_item = false;
    // The stage joins several input items, the parts of a batch, to one: `work` is called once for all parts,
    // when `stage_kind::completes_item` returns true.
    bool gathers_parts = false;
    // An item's number is the number of tasks before its task. False: the number is its position in the
    // input.
    bool numbers_results = false;
    // From which items a result is made. If from `all_held`, the kind declares the functions `has_item` (the
    // result has the current item) and `holds_items` (for a later result).
    result_origin origin = result_origin::its_item;
};

// How the task on an item has ended. The order counts: `last` and all later values end the stage.
enum class task_end : std::uint8_t {
    succeeded,
    tolerated,  // it failed, within `max_failures`
    last,       // it succeeded, but the stage has exceeded `max_failures`: the stage ends after this task
    fatal       // it failed, and the stage ends
};

// The next step of a worker. `take` and `end` finish an iteration. In each step after `skip`, the worker
// waits; the comment of the step says for what:
enum class worker_step : std::uint8_t {
    take,
    end,
    skip,          // puts null for an item without result: so the queue no longer waits for that result
    admission,     // until the run lets the slot go on: for the end of a pause, or for later stages
    byte_budget,   // until the queues of the run hold fewer bytes
    turn,          // until the turn of the item has come
    work,          // for the awaitable that `work` has returned
    time_limit,    // until the timer of the task is cancelled
    fetch_result,  // for the next result of an asynchronous generator
    service,       // until the concurrency of the stage includes this slot again
    hold_timer     // until the timer that limits how long items are held is cancelled
};

// The place of an item in the order of the input, in a run without epochs: only its number.
struct place_without_epoch {
    std::uint64_t number = 0;
    static constexpr std::uint64_t epoch = 0;
    static constexpr bool mark = false;
    // NOLINTNEXTLINE(google-explicit-constructor): a place is a turn
    operator turn() const noexcept { return turn{number, epoch, mark}; }
};

// Records the visits of followed items (those that a trace follows from stage to stage) to one slot. A visit
// begins with the work on an item, and ends before the next visit begins. Used only by the worker of the
// slot, and only in a run that follows items (`is_on`).
class item_tracer {
  public:
    item_tracer(slot& me, result_origin origin) noexcept : me_(me), origin_(origin) {}

    bool is_on() const noexcept { return me_.trail != nullptr; }  // whether the run follows items

    // Begins a visit if the item is followed, and then returns true. Called before the work on the
    // `number`-th item of a queue. `item`, `epoch`: the item's number at this stage, and its epoch.
    template <class Queue>
    WEIR_NOINLINE bool begin(Queue& from, std::uint64_t number, std::uint64_t item,
                             std::uint64_t epoch) noexcept {
        stop_following();
        if (!take_tag(from, number)) return false;
        const std::int64_t at = now();
        me_.trail->begin(item, epoch, at);
        record_depth(from, at);
        if (origin_ == result_origin::its_item) me_.follow(me_.trail->current());
        return true;
    }
    // Likewise, before the work on an item that the stage makes without input. May choose the item to be
    // followed. `nth`: the number of items that the stage has made earlier.
    bool begin_new(std::uint64_t nth, std::uint64_t item, std::uint64_t epoch) noexcept;
    // Ends the visit before, if any. Called before work without a followed item: on a mark, on an item that
    // the function of a `traverse` has added, on the parts that a `split` joins, or on no item.
    void begin_none() noexcept { stop_following(); }

    // Records a visit that takes no time, of an item that the stage holds for a result of several items.
    template <class Queue>
    WEIR_NOINLINE void hold(Queue& from, std::uint64_t number, std::uint64_t epoch) noexcept {
        if (!take_tag(from, number)) return;
        const std::int64_t at = now();
        me_.trail->begin(number, epoch, at);
        record_depth(from, at);
        me_.trail->keep(at);
        me_.trail->end();
    }

    // Records the end of the work, or its failure. `was_none`: a stage without input has made a mark or
    // nothing; the visit is dropped.
    void worked(bool has_failed, bool was_none) noexcept;

    // Called before each put: decides whether a trace follows the result. `mark`: the result is an
    // end-of-epoch mark. `has_item`: the result contains the current item. `item`, `epoch`: of that item.
    void record_result(bool mark, bool has_item, std::uint64_t item, std::uint64_t epoch) noexcept;
    // Called when the worker has put all results that are ready. Ends the visit, except with `its_item`: that
    // visit ends when the next work begins. `holds`: the stage still holds items.
    void end(bool holds) noexcept;

  private:
    std::int64_t now() const noexcept { return me_.clock().now().time_since_epoch().count(); }
    // Whether the slot works on a followed item now.
    bool is_visited() const noexcept {
        return origin_ == result_origin::its_item ? me_.is_following() : me_.trail->is_open();
    }
    // The slot no longer works on a followed item.
    void stop_following() noexcept {
        if (me_.is_following()) me_.follow(0);
    }
    // Returns whether the `number`-th item of the queue is followed: then the queue has kept its tag, the
    // number by which the trace knows the item. Tells the trail (the record of this slot's visits).
    template <class Queue>
    bool take_tag(Queue& from, std::uint64_t number) noexcept {
        trail_marks* const marks = from.trace_marks();
        const std::uint64_t tag = marks == nullptr ? 0 : marks->take(number);
        if (tag == 0) return false;
        me_.trail->came(marks->queue(), number, tag);
        return true;
    }
    // Records how many items were put into the queue, and how many were got.
    template <class Queue>
    void record_depth(Queue& from, std::int64_t at) noexcept {
        using side = typename Queue::side;
        me_.trail->depth(from.trace_marks()->queue(), from.count_at(side::put), from.count_at(side::get), at);
    }

    slot& me_;
    const result_origin origin_;
    std::uint64_t num_given_ = 0;  // the number of results of unknown origin
};

// What a worker (the coroutine of a slot) keeps from one item to the next, such as its `item_tracer` and its
// `Resources`, the objects that each slot has for itself. Defined in stage_task.hpp.
template <class Policy, class Resources>
struct worker_context;

// The members of an iteration that do not depend on the kind of the stage. Members are written before they
// are read, and have no initial values, which would cost 3 ns an iteration.
struct iteration_state {
    iteration_state() noexcept {}  // user-provided, so that the members are not set to zero

    std::exception_ptr error;
    std::int64_t began;     // when the task began, or continued after its previous result; in ns
    std::int64_t spent;     // time spent on the task so far, in ns
    worker_step next;       // what the worker does now, or waits for
    task_end task;          // how the task has ended
    bool has_work;          // the result of `stage_kind::has_work` before the work
    bool input_ended;       // no item came, and none will
    bool has_more_results;  // more results follow the one that is being put
    bool ends_stage;        // the worker ends after this iteration
};

// The state of one iteration of the worker loop: the input item, its results or error, and what to do next.
// `C`, `D`: the item types of the queues before and behind the stage; `State`: the members that the stage
// kind adds.
template <class C, class D, class Policy, class State = nothing, class Resources = nothing>
struct iteration_of : State, iteration_state {
    using context_type = worker_context<Policy, Resources>;

    iteration_of() noexcept {}  // see iteration_state

    C* item;  // null: no item came, or the kind takes none
    // The position of the item: its number in the input, its epoch, and whether it is an end-of-epoch mark.
    [[no_unique_address]] std::conditional_t<is_epoch_item<C> || is_epoch_item<D>, turn, place_without_epoch>
        place;
    D* to_put;              // the result to put when the turn of the item has come
    context_type* context;  // of the slot's worker, for all of its iterations
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/iteration.ipp>
#endif

#endif
