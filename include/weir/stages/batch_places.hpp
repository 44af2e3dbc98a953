// weir stages, internal: which place of a batch an item of `batch_slots` gets, and which batch leaves next
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_BATCH_PLACES_HPP
#define WEIR_STAGES_BATCH_PLACES_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/stages/open_batch.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint8_t, std::uint64_t
#include <memory>    // for std::unique_ptr
#include <optional>  // for std::optional
#include <utility>   // for std::exchange, std::move

namespace weir::detail {

// The form of the batches of a stage `batch_slots`, which writes each item into a place of a batch.
struct batch_form {
    std::size_t places;    // the number of items in a full batch
    std::size_t elements;  // the number of array elements in each place
    bool drop_last;        // whether a batch that is not full at the end of an epoch or the input is dropped
};

// A request of a slot (a worker of the stage), and the answer of `place_rule`.
struct place_request {
    enum class event : std::uint8_t {
        item,   // waits for a place for an item
        mark,   // an epoch ends: waits until all its items have filled their places, failed or were dropped
        at_end  // after the end of the input: waits until no slot has an item
    };
    event cause = event::item;
    // The number of items in the input before this item, or before this mark (message that ends an epoch).
    std::uint64_t number = open_batch::no_item;
    std::uint64_t epoch = open_batch::no_item;
    open_batch* batch = nullptr;  // null: no place yet
    std::size_t place = 0;
    bool fetches = false;     // the slot acquires memory for the next batch; slots without a place wait
    bool gives = false;       // the slot puts finished batches and marks into the queue; one slot at a time
    bool is_settled = false;  // the item has filled its place, or never will
};

// The rule of a `wait_queue` (coroutines that wait until its rule admits them), in which the slots of a
// `batch_slots` wait for places. Places are given out in the order of the requests, or of the items' numbers
// (`in_order`). One slot at a time, the giver, puts finished batches and marks (ends of epochs) into the next
// queue, while other slots work. Items of an epoch (pass over the data) wait until the giver has taken the
// mark of the epoch before.
//
// Requests wait in the order of epochs, marks last; within an epoch in the order in which they came, or of
// the items' numbers. So if a request has to wait, all behind it have to, unless `block` refuses them.
class place_rule {
  public:
    using ticket = place_request*;

    place_rule(bool in_order, std::uint64_t first_epoch) noexcept
        : in_order_(in_order), epoch_(first_epoch) {}

    // The answer to the request, by the state of now: go on, wait, or refused. Changes nothing.
    admission judge(const ticket& asked) const noexcept {
        const place_request& t = *asked;
        if (is_closed_) return admission::refused;
        switch (t.cause) {
            case place_request::event::item:
                if (t.epoch > blocked_epoch_ || t.number > last_number()) return admission::refused;
                if (t.epoch != epoch_ || (in_order_ && t.number != next_)) return admission::wait;
                return fetcher_ == nullptr || num_places_ != 0 ? admission::go : admission::wait;
            case place_request::event::mark:
                if (t.epoch >= blocked_epoch_) return admission::refused;
                return t.epoch == epoch_ && num_settled_ == t.number ? admission::go : admission::wait;
            case place_request::event::at_end:
                break;
        }
        return num_working_ == 0 ? admission::go : admission::wait;
    }
    // With `in_order`, the answer `go` for an item makes the next item the one that gets a place. The slot of
    // the next item may wait already. So the caller calls `wait_queue::update`, which repeats the requests of
    // waiting slots.
    admission ask(const ticket& asked) noexcept {
        const admission answer = judge(asked);
        if (answer != admission::go) return answer;
        place_request& t = *asked;
        if (t.cause == place_request::event::item) {
            give_place(t);
        } else {
            (t.cause == place_request::event::mark ? mark_is_due_ : end_is_due_) = true;
            t.gives = !std::exchange(has_giver_, true);
        }
        return answer;
    }

    // The order in which requests wait: see above.
    bool goes_before(const ticket& a, const ticket& b) const noexcept {
        if (a->epoch != b->epoch) return a->epoch < b->epoch;
        return in_order_ ? a->number < b->number : a->cause < b->cause;
    }

    // Count the slots that take items. At the end of the input, a request waits until there is none.
    void begin_work() noexcept { ++num_working_; }
    void end_work() noexcept { --num_working_; }

    // The slot that fetches has acquired the memory of `batch`: adds the batch, and gives the slot a place.
    void add(std::unique_ptr<open_batch> batch, place_request& t) noexcept {
        num_places_ += batch->num_places();
        batch->previous = std::exchange(last_, batch.get());
        (batch->previous != nullptr ? batch->previous->next : first_) = std::move(batch);
        stop_fetching(t);
        give_place(t);
    }
    // Called before the slot that fetches waits for memory: keeps `stop`, which ends this wait, until
    // `stop_fetching`. Returns false if a place has become free: the slot then requests a place instead.
    bool wait_for_memory(place_request& t, const stop_source& stop) noexcept {
        if (num_places_ != 0) {
            stop_fetching(t);
            return false;
        }
        fetch_stop_ = &stop;
        return true;
    }
    // Lets another slot fetch, as this slot has the memory, requests a place again, or gives up.
    void stop_fetching(place_request& t) noexcept {
        if (!std::exchange(t.fetches, false)) return;
        fetcher_ = nullptr;
        fetch_stop_ = nullptr;
    }

    // Records that the item has filled its place. The slot becomes the giver if its batch can leave and there
    // is no giver.
    void fill(place_request& t) noexcept {
        t.batch->fill(t.place, t.number);
        settle(t);
        if (!t.batch->is_full()) return;
        if (!in_order_) {
            (first_full_ == nullptr ? first_full_ : last_full_->next_full) = t.batch;
            last_full_ = t.batch;
        }
        if (!in_order_ || t.batch == first_.get()) t.gives = !std::exchange(has_giver_, true);
    }
    // The item has failed, or was dropped: frees its place for another item. If a slot waits for memory,
    // returns the stop source that ends this wait, as that slot can have the place. The caller requests the
    // stop after it has released the lock of the `wait_queue`.
    std::optional<stop_source> leave_out(place_request& t) noexcept {
        if (t.is_settled) return std::nullopt;
        stop_fetching(t);
        settle(t);
        if (t.batch == nullptr) {
            if (in_order_ && t.number == next_) ++next_;
            return std::nullopt;
        }
        t.batch->take_back(t.place);
        ++num_places_;
        return stop_of_fetch();
    }
    // The stage ends at the item or mark of the request, for example by a failure: refuses all items and
    // marks that have to leave after it. If the slot is the giver, refuses all requests, as no batch will
    // leave any more. Returns a stop source as `leave_out` does, also if the slot is the giver.
    std::optional<stop_source> block(place_request& t) noexcept {
        std::optional<stop_source> stop;
        if (t.cause == place_request::event::item) stop = leave_out(t);
        blocked_number_ = detail::smaller(blocked_number_, t.number);
        blocked_epoch_ = detail::smaller(blocked_epoch_, t.epoch);
        if (!std::exchange(t.gives, false)) return stop;
        is_closed_ = true;
        return stop_of_fetch();
    }

    // The batches or the mark that the giver puts next: a full batch; at the end of an epoch, or of the
    // input, all batches that are left; or the mark of an epoch.
    struct next_output {
        std::unique_ptr<open_batch> batches;
        std::optional<std::uint64_t> ended_epoch;
    };
    // Returns what the slot, the giver, has to put next. If that is nothing, the slot is no longer the giver.
    next_output take(place_request& t) noexcept {
        if (first_ && (mark_is_due_ || end_is_due_)) return {take_all(), std::nullopt};
        open_batch* const batch = in_order_ ? first_.get() : first_full_;
        if (batch != nullptr && batch->is_full() && !has_refused(*batch))
            return {remove(*batch), std::nullopt};
        if (std::exchange(mark_is_due_, false)) return {nullptr, epoch_++};
        t.gives = has_giver_ = false;
        return {};
    }
    // The number of the last item that may leave; UINT64_MAX: no limit. With `in_order`, no item leaves after
    // an item at which `block` has ended the stage.
    std::uint64_t last_number() const noexcept { return in_order_ ? blocked_number_ : UINT64_MAX; }

  private:
    // Returns what ends the wait of a slot for memory, as a place is free for it; none: no slot waits for
    // memory.
    std::optional<stop_source> stop_of_fetch() const noexcept {
        if (fetch_stop_ == nullptr) return std::nullopt;
        return *fetch_stop_;
    }
    // Whether the batch has an item that must not leave. Then the batch is given at the end, with all others,
    // so that only the last of the batches is not full.
    bool has_refused(const open_batch& batch) const noexcept {
        if (last_number() == UINT64_MAX) return false;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (batch.number_at(i) > last_number()) return true;
        }
        return false;
    }
    // Takes all batches, full or not, out of the list.
    std::unique_ptr<open_batch> take_all() noexcept {
        num_places_ = 0;
        last_ = first_full_ = nullptr;
        return std::move(first_);
    }
    // Takes a full batch out of the list.
    std::unique_ptr<open_batch> remove(open_batch& full) noexcept {
        std::unique_ptr<open_batch>& place = full.previous != nullptr ? full.previous->next : first_;
        std::unique_ptr<open_batch> batch = std::move(place);
        place = std::move(batch->next);
        (place ? place->previous : last_) = batch->previous;
        if (!in_order_) first_full_ = batch->next_full;
        return batch;
    }
    // The first batch that has a place: the last batch, unless an earlier one has a place that was freed.
    open_batch* batch_with_place() const noexcept {
        if (last_->num_places() == num_places_) return last_;
        open_batch* b = first_.get();
        while (b->num_places() == 0) b = b->next.get();
        return b;
    }
    // Gives the slot a place; or, if there is none, lets the slot acquire memory for a batch.
    void give_place(place_request& t) noexcept {
        t.fetches = num_places_ == 0;
        if (t.fetches) {
            t.batch = nullptr;
            fetcher_ = &t;
            return;
        }
        t.batch = batch_with_place();
        t.place = t.batch->give();
        --num_places_;
        if (in_order_) ++next_;
    }
    // Counts the item: it has filled its place, or never will.
    void settle(place_request& t) noexcept {
        t.is_settled = true;
        if (t.epoch == epoch_) ++num_settled_;
    }

    const bool in_order_;  // places go to items by their numbers, not by the time of the request
    std::uint64_t epoch_;  // the epoch of the items in the batches
    std::unique_ptr<open_batch> first_;  // the list of batches, in the order in which they were begun
    open_batch* last_ = nullptr;         // the last of these batches
    open_batch* first_full_ = nullptr;   // the list of full batches, empty if `in_order`
    open_batch* last_full_ = nullptr;    // the last of these
    std::size_t num_places_ = 0;         // places of all batches that can be given out
    std::uint64_t next_ = 0;             // in order: the number of the item that gets the next place
    std::uint64_t num_settled_ = 0;  // items that have filled a place, failed or were dropped, of all epochs
    std::size_t num_working_ = 0;    // slots that may have an item, or get one
    const place_request* fetcher_ = nullptr;   // its slot acquires memory for a batch; null: none
    const stop_source* fetch_stop_ = nullptr;  // ends the fetcher's wait for memory; null: it does not wait
    bool has_giver_ = false;                   // a slot puts batches and marks now
    bool mark_is_due_ = false;  // the epoch's items are settled: the giver puts all batches, then the mark
    bool end_is_due_ = false;   // the input has ended, and no slot has an item: the giver puts all batches
    bool is_closed_ = false;    // all requests are refused
    // The lowest number and the lowest epoch for which `block` was called; UINT64_MAX: not called.
    std::uint64_t blocked_number_ = UINT64_MAX;
    std::uint64_t blocked_epoch_ = UINT64_MAX;
};

// The objects that each slot of a `batch_slots` has for itself: `Own`, with the slot's function if `per_slot`
// makes one for each slot; and whether `place_rule::begin_work` has counted the slot.
template <class Own>
struct counted_slot : Own {
    bool is_counted = false;
};

// Returns whether a pool has given a block, the memory of a batch, to a wait that `stop` ends. Throws if the
// pool gave none without a stop, because the slot would wait for ever.
inline bool is_given(const auto& block, const stop_source& stop) {
    refuse_if(!block && !stop.stop_requested(),
              "weir: the pool of this batch_slots gave no block though its stop token was not stopped: its "
              "acquire has to wait for a block, or to throw");
    return static_cast<bool>(block);
}

using place_queue = wait_queue<place_rule>;

}  // namespace weir::detail

#endif
