// weir stages: how the function of a `traverse` adds items to its own stage, and how the stage takes them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FEEDER_HPP
#define WEIR_STAGES_FEEDER_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/common_waits.hpp>
#include <weir/stages/traversal.hpp>
#include <weir/stages/traversal_rule.hpp>
#include <weir/stages/worker_waits.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::addressof
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::exchange, std::forward, std::move

namespace weir {

/// Adds items to the stage of a `traverse` or `traverse_each`. The function of the stage gets the feeder as
/// its second parameter:
///
///     weir::traverse([](folder f, weir::feeder<folder>& more) {
///         for (folder& sub : f.folders()) more.add(std::move(sub));
///         return f.size();
///     })
///
/// \tparam T  the item type of the queue before the stage.
/// Threads:  any number, until the function has returned, or the task that the function returned has ended.
///           A later call of `add` is an error, and detected only while the slot is in no call: during the
///           slot's next call, the item counts as added by that call.
/// Lifetime: that of the slot (worker), which uses one feeder for all of its calls of the function.
template <class T>
class feeder {
  public:
    feeder(const feeder&) = delete;
    feeder& operator=(const feeder&) = delete;

    /// Adds one item. The stage will call its function with the item, maybe on another thread before `add`
    /// returns. The item stays added if the current call of the function fails later.
    ///
    /// Errors: `std::length_error` if `traverse_options::max_waiting` items are pending already;
    ///         `std::logic_error` while the slot is in no call of the function; `std::bad_alloc`. In all
    ///         cases the item is destroyed. When the stage ends early, for example by a stop of the run, the
    ///         item is destroyed, too, without an error.
    /// Cost:   a short lock, rarely contended; now and then an allocation for more pending items.
    void add(T item) { add_item(std::move(item)); }

  protected:
    feeder() noexcept = default;
    ~feeder() = default;

  private:
    virtual void add_item(T&& item) = 0;
};

namespace detail {

// Takes the items for one slot (worker) of a traversal (`traverse` or `traverse_each`): items that the
// function has added, in any slot, and items of the queue before the stage. Is also the function's feeder.
template <class C, class Policy>
class traversal_intake final : task_intake, public traversal_slot, public feeder<carried_value_t<C>> {
    using T = carried_value_t<C>;
    using provenance = typename epoch_item_traits<C>::provenance;

  public:
    template <class Slot>
    explicit traversal_intake(Slot& me) noexcept
        : task_intake(me), traversal_slot(item_type_of<C>, me), from_queue(me) {}
    ~traversal_intake() {
        drop();
        if (is_listed) all_->end(*worker_slot);  // its worker was destroyed before it could end
    }

    // ---- called by the worker, the coroutine of the slot, in this order
    // Prepares the next take. If `at_once` is true, tries to take a pending item (added, and not yet taken):
    // of the slot's own deque, or of the one deque of all slots (`traverse_order::as_found`). Without such an
    // item, calls `fetch`, which returns the task that takes an item. `error` gets an exception of either.
    template <class Fetch>
    WEIR_ALWAYS_INLINE void prepare(traversal& all, bool at_once, Fetch fetch,
                                    std::exception_ptr& error) noexcept {
        all_ = &all;
        recalled_ = false;
        took_at_once_ = at_once && take_own();
        ++num_taken;
        if (!took_at_once_) task_intake::prepare(fetch, error);
    }
    WEIR_ALWAYS_INLINE bool await_ready() const noexcept {
        return took_at_once_ || task_intake::await_ready();
    }
    using task_intake::await_suspend;
    WEIR_ALWAYS_INLINE bool await_resume() noexcept { return took_at_once_ || task_intake::await_resume(); }
    // Whether the take got no item because the slot goes out of service, as the concurrency was reduced.
    bool was_recalled() const noexcept { return recalled_; }
    C* item() noexcept { return is_added_ ? own_.address() : from_queue.item(); }
    std::uint64_t number() const noexcept { return number_; }
    // Whether the item was pending: added through the feeder, or made pending by `queue_item_arrived` of any
    // slot. Traces follow only items that come straight from the queue.
    bool is_added() const noexcept { return is_added_; }
    auto& queue() const noexcept { return from_queue.queue(); }
    std::uint64_t queue_number() const noexcept { return from_queue.number(); }

    void begin_call(provenance& of_item) noexcept {  // from now on, `add` is allowed
        of_item.clear_elementwise();
        provenance_ = &of_item;
        open_.store(true, std::memory_order_relaxed);
    }
    void end_call() noexcept { open_.store(false, std::memory_order_relaxed); }  // and no longer
    WEIR_ALWAYS_INLINE void drop() noexcept {
        if (std::exchange(is_added_, false)) own_.destroy();
        from_queue.drop();
        task_intake::drop();
    }

    // ---- called by the task of `fetch`
    bool take_pending() noexcept {
        if (take_own()) return true;
        return is_added_ = all_->take_from_others(*this, own_.address(), number_);
    }
    // An item came from the queue before the stage. If the shared deque has older items, takes the oldest of
    // them instead, and the item of the queue becomes pending.
    void queue_item_arrived() {
        is_added_ = all_->exchange(from_queue.item(), own_.address(), number_);
        if (is_added_) from_queue.drop();
    }
    void set_recalled() noexcept { recalled_ = true; }

    intake<channel<C, Policy>> from_queue;
    std::uint64_t num_taken = 0;  // calls of `prepare`; after some number of them the slot yields its thread

  private:
    WEIR_ALWAYS_INLINE bool take_own() noexcept {  // a pending item: see `prepare`
        return is_added_ = all_->take_own(*this, own_.address(), number_);
    }

    void add_item(T&& item) override {  // called by the user's function
        if (!open_.load(std::memory_order_relaxed)) {
            throw std::logic_error(
                "weir: a feeder was used after the function that it was given to has ended; add items before "
                "that, or let the function be a task that ends later");
        }
        if (all_->is_over()) return;
        auto&& made = epoch_item_traits<C>::carry(item, provenance_->share());
        try {
            all_->add(*this, std::addressof(made));
        } catch (...) {
            epoch_item_traits<C>::provenance_of(made).acknowledge();  // no checkpoint waits for the lost item
            throw;
        }
    }
    void cancel_wait() noexcept override { from_queue.cancel_wait(); }
    void clear_cancel() noexcept override { from_queue.clear_cancel(); }

    traversal* all_ = nullptr;          // the state that all slots share; set by prepare()
    uninitialised_slot<C> own_;         // memory for an item that was pending
    std::uint64_t number_ = 0;          // of the current item
    bool took_at_once_ = false;         // `prepare` has taken an item, without `fetch`
    bool is_added_ = false;             // the current item is in `own_`, not in `from_queue`
    bool recalled_ = false;             // see was_recalled()
    provenance* provenance_ = nullptr;  // the epoch and origin of the current item, for added items
    // True during a call of the function. relaxed: finds wrong uses of the feeder, and orders no data.
    standard_platform::atomic<bool> open_{false};
};

// The stage of a run for `traverse` and `traverse_each`. `Base`: the class that calls the function, with an
// item and the feeder (see `traversal_call`): `pipe_kind`, or `running_for_each`.
template <class Base>
class running_traversal : public Base {
    using C = typename Base::input_item;
    using Policy = typename Base::policy_type;

  public:
    using typename Base::iteration;
    using typename Base::slot;
    using input = traversal_intake<C, Policy>;

    template <class G>
    running_traversal(run_context& run, const stage_options& options, bool first_found_first,
                      std::size_t max_waiting, G&& f, channel<C, Policy>& in,
                      typename Base::output_queue& out)
        : Base(run, options, std::forward<G>(f), in, out),
          all_(item_type_of<C>, this->name(), first_found_first, max_waiting) {}

    void take(input& next, slot& me, iteration& it) noexcept {  // the worker calls these functions
        if (next.has_mark) all_.update([&next](traversal_rule& rule) { rule.mark_has_left(next); });
        it.second_argument = &next;
        const bool at_once = next.is_present && !is_recalled_or_ending(me) &&
                             !detail::needs_suspend<Policy>(false, next.num_taken, &me);
        next.prepare(all_, at_once, [&] { return fetch(next, me); }, it.error);
    }
    // An error without an item comes from `fetch`, and fails the stage.
    bool tolerates_failure(const iteration& it) const noexcept { return it.item != nullptr; }
    void on_item(iteration& it) noexcept {
        Base::on_item(it);
        static_cast<input&>(*it.second_argument).begin_call(it.item_provenance);  // the feeder
    }
    void end_task(iteration& it) noexcept {
        static_cast<input&>(*it.second_argument).end_call();
        Base::end_task(it);
    }
    void close_input(slot& me) noexcept {  // a worker ends, and so the stage
        all_.end(me);
        this->in_->cancel();
    }
    void recall_idle() noexcept { all_.recall_idle(); }

  private:
    std::optional<added_stats> added() const override { return all_.stats(); }
    // relaxed: a hint; a slot that has to wait reads the flag again, under a lock
    bool is_recalled_or_ending(const slot& me) const noexcept {
        return me.recalled.load(std::memory_order_relaxed) || has_to_end();
    }
    bool has_to_end() const noexcept { return all_.is_over() || this->run_.own_stop().stop_requested(); }

    // Waits for an item, and takes it. Returns false if the stage ends, or if the slot goes out of service,
    // because the concurrency of the stage was reduced.
    task<bool> fetch(input& my_input, slot& me) {
        if (my_input.is_present && !is_recalled_or_ending(me)) {  // not the slot's first take
            yield_awaiter<slot> turn(me);
            co_await turn;
        }
        all_.update([&my_input](traversal_rule& rule) { rule.enter(my_input); });
        for (bool has_waited = false;;) {
            if (has_to_end() || this->out_->closed()) co_return false;
            if (me.recalled.load(std::memory_order_relaxed) && all_.leave(my_input)) {
                my_input.set_recalled();
                co_return false;
            }
            if (my_input.take_pending()) {
                if (has_waited) {  // perhaps as the next leader
                    all_.update([&my_input](traversal_rule& rule) { rule.found_item(my_input); });
                }
                co_return true;
            }
            my_input.from_queue.prepare(*this->in_);  // before another slot may call `cancel_wait`
            const idle_step step = all_.become_idle(my_input);
            if (step == idle_step::end) co_return false;
            if (step == idle_step::lead) {  // the leader: the one idle slot that takes from the queue
                const bool came = co_await my_input.from_queue;
                leader_resumed(my_input, came);
                if (my_input.has_mark) {  // an epoch ends: waits until all other slots are idle
                    const bool is_alone = co_await all_.wait(my_input, me, slot_state::wait_turn);
                    if (!is_alone) co_return false;
                }
                if (came) {
                    my_input.queue_item_arrived();
                    co_return true;
                }
            }
            if (step == idle_step::wait) {
                has_waited = co_await all_.wait(my_input, me, slot_state::wait_get);
                if (!has_waited) co_return false;
            }
        }
    }
    void leader_resumed(input& my_input, bool came) noexcept {  // its wait for the queue has ended
        const bool mark = came && epoch_item_traits<C>::is_mark(*my_input.from_queue.item());
        const bool ended = !came && !my_input.from_queue.was_recalled();
        all_.update([&](traversal_rule& rule) { rule.leader_resumed(my_input, came, mark, ended); });
    }

    traversal all_;
};

}  // namespace detail

}  // namespace weir

#endif
