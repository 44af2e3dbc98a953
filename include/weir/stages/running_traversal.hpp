// weir stages, internal: a stage whose function adds items to the stage itself, at work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_TRAVERSAL_HPP
#define WEIR_STAGES_RUNNING_TRAVERSAL_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_type.hpp>
#include <weir/channel/slice.hpp>
#include <weir/channel/uninitialised_slot.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/call_traits.hpp>
#include <weir/stages/feeder.hpp>
#include <weir/stages/function_stage.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/pending_items.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/traversal_rule.hpp>
#include <weir/task/task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::addressof
#include <stdexcept>  // for std::length_error, std::logic_error
#include <string>     // for std::string, std::to_string
#include <utility>    // for std::exchange, std::forward, std::move

namespace weir::detail {

// What all slots of a traversal share.
class traversal {
    using count = standard_platform::atomic<std::size_t>;

  public:
    traversal(const item_type& type, const std::string& stage, bool first_found_first,
              std::size_t max_waiting) noexcept
        : shared_(type), first_found_first_(first_found_first), stage_(stage),
          max_waiting_(max_waiting),
          slots_(traversal_rule(idle_, first_found_first ? &shared_ : nullptr),
                 "for an item that another slot adds") {}

    // Adds an item to those of `to`. Throws; the item is the caller's then.
    void add(traversal_slot& to, void* item) {
        // relaxed: a number
        if (waiting_.fetch_add(1, std::memory_order_relaxed) >= max_waiting_) {
            waiting_.fetch_sub(1, std::memory_order_relaxed);
            throw_too_many();
        }
        try {
            (first_found_first_ ? shared_ : to.found).push(item);
        } catch (...) {
            waiting_.fetch_sub(1, std::memory_order_relaxed);
            throw;
        }
        // Behind the deque's lock: a slot that has found that deque empty before is counted by now.
        if (idle_.load(std::memory_order_relaxed) != 0) {
            slots_.update([](traversal_rule& rule) { rule.call_one(); });
        }
    }

    // The next pending item, of the slot's own if there are such. False: there is none.
    WEIR_ALWAYS_INLINE bool take_own(traversal_slot& me, void* into, std::uint64_t& number) noexcept {
        const bool took =
            first_found_first_ ? shared_.take_oldest(into, taken_, number)
                                             : me.found.take_newest(into, taken_, number);
        if (took) waiting_.fetch_sub(1, std::memory_order_relaxed);
        return took;
    }
    bool take_from_others(void* into, std::uint64_t& number) noexcept {
        if (first_found_first_) return false;
        const bool took = slots_.read([&](const traversal_rule& rule) {
            traversal_slot* each = rule.first();
            while (each != nullptr && !each->found.take_oldest(into, taken_, number)) each = each->next;
            return each != nullptr;
        });
        if (took) waiting_.fetch_sub(1, std::memory_order_relaxed);
        return took;
    }
    // An item came from the queue before the stage. False: others that wait have to be taken before it.
    bool goes_first(std::uint64_t& number) noexcept {
        if (first_found_first_) return shared_.goes_first(taken_, number);
        number = pending_items::next_of(taken_);
        return true;
    }
    // Such an item is no added one, and so not limited.
    void put_last(void* item) {
        shared_.push(item);
        waiting_.fetch_add(1, std::memory_order_relaxed);
    }

    // A change of the rule, with whoever may go on because of it.
    template <class Change>
    void update(Change change) noexcept {
        slots_.update(change);
    }
    idle_step look(traversal_slot& me) noexcept {
        idle_step next = idle_step::end;
        slots_.update([&](traversal_rule& rule) { next = rule.look(me); });
        return next;
    }
    template <class Slot>
    auto wait(traversal_slot& me, Slot& who, slot_state as) noexcept {
        return slots_.wait(&me, who, as);
    }

    // The slot's worker has ended, and so does the stage. What is pending is destroyed.
    void end(const slot& who) noexcept {
        over_.store(true, std::memory_order_relaxed);  // a hint; the rule says the same under its lock
        traversal_slot* me = nullptr;
        slots_.update([&](traversal_rule& rule) {
            me = rule.first();
            while (me != nullptr && me->who != &who) me = me->next;
            rule.end(me);
        });
        if (me != nullptr) me->found.clear();
        shared_.clear();
    }
    bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); }

  private:
    [[noreturn]] WEIR_NOINLINE void throw_too_many() const {
        throw std::length_error("weir: stage '" + stage_ + "' has " + std::to_string(max_waiting_) +
                                " items that its function added and that no slot has begun, and "
                                ".max_waiting allows no more: give it more, or add fewer at a time");
    }

    pending_items::counter taken_{0};
    count idle_{0};
    count waiting_{0};
    standard_platform::atomic<bool> over_{false};
    pending_items shared_;
    const bool first_found_first_;
    const std::string& stage_;
    const std::size_t max_waiting_;
    wait_queue<traversal_rule> slots_;
};

// Goes to the end of the executor's queue, so that others get their turn.
template <class Slot>
class yielded_turn {
  public:
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
    void await_resume() const noexcept { detail::goes_on(me_); }

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
    // One came from the queue, and is numbered; it may have to wait.
    void came() {
        if (all_->goes_first(number_)) return;
        all_->put_last(from_queue.item());
        from_queue.drop();
        take_own();
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

// Of the call of a function with an item and a feeder: see `function_call`.
template <class T>
struct fed {
    feeder<T>* more;
};
template <class Function>
struct the_traversal {
    template <class T>
    struct is_given : call_traits<Function, T, feeder<T>> {
        static_assert(is_given::fits,
                      "weir: the function of a traverse is called with what the stage before it gives and a "
                      "feeder of that, [](T item, weir::feeder<T>& more), and this one can't be; the types "
                      "are those of the_traversal<...>::is_given<...> in this message");
    };
};
template <class Given, class C>
struct fed_call {
    using traits =
        typename the_traversal<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    using more = fed<carried_value_t<C>>;
};

// `Base`: the kind of stage that the function's results make it, for a `fed_call`.
template <class Base>
class running_traversal : public Base {
    using C = typename Base::item_taken;
    using Policy = typename Base::policy_type;

  public:
    using typename Base::pass;
    using typename Base::slot;
    using taking = traversal_intake<C, Policy>;

    template <class G>
    running_traversal(run_context& run, const stage_options& options, bool first_found_first,
                      std::size_t max_waiting, G&& f, channel<C, Policy>& in, typename Base::output& out)
        : Base(run, options, std::forward<G>(f), in, out),
          all_(item_type_of<C>, this->name(), first_found_first, max_waiting) {}

    void take(taking& next, slot& me, pass& now) noexcept {
        if (next.has_mark) all_.update([&next](traversal_rule& rule) { rule.forget_mark(next); });
        now.more = &next;
        const bool at_once = next.is_present && !must_look(me) &&
                             !detail::is_special<Policy>(false, next.num_taken, &me);
        next.comes_from(all_, at_once, [&] { return fetch(next, me); }, now.error);
    }
    // Else it is no item's failure that it could not be taken.
    bool is_tolerable(const pass& now) const noexcept { return now.item != nullptr; }
    void accept(pass& now) noexcept {
        Base::accept(now);
        static_cast<taking*>(now.more)->begin_call(now.about);
    }
    void release(pass& now) noexcept {
        static_cast<taking*>(now.more)->end_call();
        Base::release(now);
    }
    void take_no_more(slot& me) noexcept {
        all_.end(me);
        this->in_->cancel();
    }
    void recall_idle() noexcept {
        all_.update([](traversal_rule&) {});
    }

  private:
    bool must_look(const slot& me) const noexcept {
        return me.recalled.load(std::memory_order_relaxed) || has_to_end();
    }
    bool has_to_end() const noexcept { return all_.is_over() || this->run_.ends().stop_requested(); }

    // What can't be had at once. False: nothing came, as the stage ends, or the slot was recalled.
    task<bool> fetch(taking& mine, slot& me) {
        if (mine.is_present && !must_look(me)) {
            yielded_turn<slot> turn(me);
            co_await turn;
        }
        all_.update([&mine](traversal_rule& rule) { rule.enter(mine); });
        for (;;) {
            if (has_to_end() || this->out_->closed()) co_return false;
            if (me.recalled.load(std::memory_order_relaxed)) {
                mine.is_recalled();
                all_.update([&mine](traversal_rule& rule) { rule.leave(mine); });
                co_return false;
            }
            if (mine.take_pending()) co_return true;
            const idle_step next = all_.look(mine);
            if (next == idle_step::end) co_return false;
            if (next == idle_step::lead) {
                mine.from_queue.comes_from(*this->in_);
                const bool came = co_await mine.from_queue;
                heard(mine, came);
                if (mine.has_mark) {
                    const bool is_alone = co_await all_.wait(mine, me, slot_state::wait_turn);
                    if (!is_alone) co_return false;
                }
                if (came) {
                    mine.came();
                    co_return true;
                }
            }
            if (next == idle_step::wait) {
                const bool goes_on = co_await all_.wait(mine, me, slot_state::wait_get);
                if (!goes_on) co_return false;
            }
        }
    }
    void heard(taking& mine, bool came) noexcept {
        const bool mark = came && epoch_item_traits<C>::is_mark(*mine.from_queue.item());
        const bool ended = !came && !mine.from_queue.was_recalled();
        all_.update([&](traversal_rule& rule) { rule.heard(mine, came, mark, ended); });
    }

    traversal all_;
};

}  // namespace weir::detail

#endif
