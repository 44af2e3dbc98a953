// weir stages, internal: how a worker of a traversal takes, and what its function adds to
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRAVERSAL_INTAKE_HPP
#define WEIR_STAGES_TRAVERSAL_INTAKE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/stages/feeder.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/traversal.hpp>
#include <weir/stages/traversal_rule.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::addressof
#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::exchange, std::move

namespace weir::detail {

// Goes to the end of the executor's queue, so that others get their turn.
template <class Slot>
class yielded_turn {
  public:
    using updates_slot_itself = void;  // it tells the slot by itself

    explicit yielded_turn(Slot& me) noexcept : me_(me) {}
    bool await_ready() const noexcept { return false; }
    // Resumes on the coroutine's executor.
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if constexpr (requires { me_.meter; }) {
            me_.catch_up(detail::clock_of(me_));
            me_.enter(slot_state::runnable, me_.last_reading);
        }
        detail::env_of(h).executor->post(h);
    }
    void await_resume() const noexcept { detail::slot_resumed(me_); }

  private:
    Slot& me_;
};

// How a worker of a traversal takes: what its function has added, what the other slots' have, or the next
// item of the queue before the stage. It is also what that function adds to.
template <class C, class Policy>
class traversal_intake final : gathering, public traversal_slot, public feeder<carried_value_t<C>> {
    using T = carried_value_t<C>;
    using provenance = typename epoch_item_traits<C>::provenance;

  public:
    template <class Slot>
    explicit traversal_intake(Slot& me) noexcept
        : gathering(me), traversal_slot(item_type_of<C>, me), from_queue(me) {}
    ~traversal_intake() { drop(); }

    // ---- what the worker does, in this order
    // What is to be awaited next: nothing, as an item is at hand, or what `fetch` gives.
    template <class Fetch>
    WEIR_ALWAYS_INLINE void comes_from(traversal& all, bool at_once, Fetch fetch,
                                       std::exception_ptr& error) noexcept {
        all_ = &all;
        recalled_ = false;
        has_one_ = at_once && take_own();
        ++num_taken;
        if (!has_one_) this->comes_by(fetch, error);
    }
    WEIR_ALWAYS_INLINE bool await_ready() const noexcept { return has_one_ || gathering::await_ready(); }
    using gathering::await_suspend;
    WEIR_ALWAYS_INLINE bool await_resume() noexcept { return has_one_ || gathering::await_resume(); }
    bool was_recalled() const noexcept { return recalled_; }
    C* item() noexcept { return is_added_ ? own_.address() : from_queue.item(); }
    std::uint64_t number() const noexcept { return number_; }
    // For who follows items: those that were added are none of the queue.
    bool is_added() const noexcept { return is_added_; }
    auto& queue() const noexcept { return from_queue.queue(); }
    std::uint64_t queue_number() const noexcept { return from_queue.number(); }

    void begin_call(provenance& about) noexcept {
        about.forget_places();
        about_ = &about;
        open_.store(true, std::memory_order_relaxed);
    }
    void end_call() noexcept { open_.store(false, std::memory_order_relaxed); }
    WEIR_ALWAYS_INLINE void drop() noexcept {
        if (std::exchange(is_added_, false)) own_.destroy();
        from_queue.drop();
        gathering::drop();
    }

    // ---- what `fetch` does
    bool take_pending() noexcept {
        if (take_own()) return true;
        return is_added_ = all_->take_from_others(own_.address(), number_);
    }
    // An item came from the queue.
    void came() {
        is_added_ = all_->exchange(from_queue.item(), own_.address(), number_);
        if (is_added_) from_queue.drop();
    }
    void is_recalled() noexcept { recalled_ = true; }

    intake<channel<C, Policy>> from_queue;
    std::uint64_t num_taken = 0;

  private:
    WEIR_ALWAYS_INLINE bool take_own() noexcept {
        return is_added_ = all_->take_own(*this, own_.address(), number_);
    }

    void take_in(T&& item) override {
        if (!open_.load(std::memory_order_relaxed)) {
            throw std::logic_error(
                "weir: a feeder was used after the function that it was given to has ended; add items before "
                "that, or let the function be a task that ends later");
        }
        if (all_->is_over()) return;
        if constexpr (is_epoch_item<C>) {
            C made(std::move(item), about_->share());
            all_->add(*this, std::addressof(made));
        } else {
            all_->add(*this, std::addressof(item));
        }
    }
    void call_off() noexcept override { from_queue.call_off(); }
    void forget_call() noexcept override { from_queue.forget_call(); }

    traversal* all_ = nullptr;
    uninitialised_slot<C> own_;
    std::uint64_t number_ = 0;
    bool has_one_ = false;   // without `fetch`
    bool is_added_ = false;  // the item at hand is in `own_`
    bool recalled_ = false;
    provenance* about_ = nullptr;
    standard_platform::atomic<bool> open_{false};  // for a function that is called
};

}  // namespace weir::detail

#endif
