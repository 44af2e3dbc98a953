// weir channel, internal: the wait of a coroutine for the first of several puts and gets, or for a time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHOICE_HPP
#define WEIR_CHANNEL_CHOICE_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::nullopt
#include <stdexcept>    // for std::logic_error
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir::detail {

// One of the puts and gets of a choice (a `select`, or one operation with a time limit), for any item type.
// Used by `choice_operation`.
template <class Platform>
class any_choice_case {
  public:
    using choice = basic_choice<Platform>;
    using waiter = basic_waiter<Platform>;
    // The result of `join`.
    enum class joined : std::uint8_t { waits, done, too_late };

    // Tries the operation without waiting, after setting `ends_slice`. True: the operation is done, or the
    // channel is closed. Errors: `forked_error`.
    virtual bool try_now() = 0;
    // Joins the line of the channel. `done`: the operation is done, or the channel is closed. `too_late`:
    // another operation was served, or the choice is over. `work_of`: the slot (stage worker) whose function
    // waits; null: none.
    virtual joined join(choice& all, slot* work_of) noexcept = 0;
    // Leaves the line, if the operation is in it. Afterwards the channel does not refer to this object.
    virtual void leave() noexcept = 0;
    // A number that differs from call to call, and decides which operation is tried first.
    virtual std::uint64_t number() noexcept = 0;

    bool is_of(const waiter* w) const noexcept { return w == waiter_; }
    // After `try_now`: whether to yield: at the end of a slice (channel_end.hpp), or on a closed channel.
    bool ends_slice() const noexcept { return ends_slice_ || waiter_->outcome == outcome::closed; }
    // When the wait ended, in ns; 0: the operation did not wait, or waits are not measured.
    std::int64_t ready() const noexcept { return waiter_->ready; }

  protected:
    ~any_choice_case() = default;

    const waiter* waiter_ = nullptr;  // set by the derived class
    bool ends_slice_ = false;
};

template <class Channel, bool Puts>
class choice_case final : public any_choice_case<typename Channel::core_type::platform> {  // a put or get
    using base = any_choice_case<typename Channel::core_type::platform>;
    using store = any_channel<typename Channel::policy_type>;
    using core = typename store::core;
    using side = typename core::side;
    using T = typename Channel::value_type;
    using typename base::choice;
    using typename base::joined;
    static constexpr side line = Puts ? side::put : side::get;

  public:
    // `item`: of a put; null for a get.
    explicit choice_case(Channel& channel, T* item = nullptr) noexcept
        : channel_(detail::base_of(channel)), own_(item, nullptr) {
        if constexpr (!Puts) own_.item = place_.address();
        own_.ready = 0;
        this->waiter_ = &own_;
    }
    // Destroys an item that was handed over to a coroutine that was destroyed before it resumed.
    ~choice_case() {
        if constexpr (!Puts) {
            if (own_.outcome == outcome::done) place_.destroy();
        }
    }

    // Not inlined: a coroutine would keep the address of this thread's record when it continues elsewhere.
    WEIR_NOINLINE bool try_now() override {
        this->ends_slice_ =
            is_end_of_slice<typename Channel::policy_type>(Puts, channel_.count_at(line), nullptr);
        if constexpr (Puts) {
            if (channel_.template put_at_once<T>(own_)) return true;
        } else {
            if (channel_.template get_at_once<T>(own_)) return true;
        }
        detail::check_threads_of(channel_.clock_.owner());
        typename store::locked_change locked(channel_);
        own_.outcome = channel_.attempt(line, own_, locked.woken());
        return own_.outcome != outcome::pending;
    }

    WEIR_NOINLINE joined join(choice& all, slot* work_of) noexcept override {
        typename store::locked_change locked(channel_);
        if (channel_.needs_no_waiting(line, own_)) {
            if (!all.claim(&own_)) return joined::too_late;
            own_.outcome = channel_.attempt(line, own_, locked.woken());
            return joined::done;
        }
        if (all.is_claimed()) return joined::too_late;
        own_.set_choice(all, all.has_limit(), work_of);
        channel_.wait_in_line(own_, line, all.executor());
        in_line_ = true;
        return joined::waits;
    }

    void leave() noexcept override {
        if (in_line_) channel_.forget(own_, line);
    }

    std::uint64_t number() noexcept override { return channel_.next_choice_number(); }

    auto take() noexcept {  // the result, after the wait
        const bool done = own_.outcome == outcome::done;
        if constexpr (Puts) {
            return done ? channel_status::success : channel_status::closed;
        } else {
            if (!done) return get_result<T>(std::nullopt, channel_status::closed);
            own_.outcome = outcome::fetched;
            return get_result<T>(*place_.take());
        }
    }

  private:
    struct nothing {};
    using place = std::conditional_t<Puts, nothing, uninitialised_slot<T>>;

    store& channel_;
    typename core::waiter own_;          // the entry of this operation in the line of the channel
    bool in_line_ = false;               // has joined the line
    [[no_unique_address]] place place_;  // where the item of a get arrives
};

// Base of the awaitables of `select`, `get_for`, `put_for` and their like.
//
// First the operations are tried, one channel at a time, until one is done. Else each joins the line of its
// channel, again one channel at a time. An operation that has become possible meanwhile is done at that
// point, unless another one was served before, and so has claimed the choice. So no wait misses a possible
// operation. No two channels are locked at once. Source: selectgo of the Go runtime (runtime/select.go), with
// the same claim; joining the lines without locking all channels is from crossbeam-channel (src/select.rs).
template <class Platform>
class choice_operation : public not_awaited {
  public:
    using moves_item = void;  // tag: `when_any` rejects the operation, as it could lose the item

    // Errors: `std::logic_error` at a second await.
    bool await_ready() {
        if (chosen_ != count_ || choice_.is_claimed())
            throw std::logic_error(
                "weir: a select, or a get or put with a time limit, can be awaited once; make a new one for "
                "each wait");
        const std::size_t first = first_to_try();
        for (std::size_t i = 0; i < count_; ++i) {
            const std::size_t at = first + i < count_ ? first + i : first + i - count_;
            if (cases_[at] == nullptr || !cases_[at]->try_now()) continue;
            chosen_ = at;
            return !cases_[at]->ends_slice();
        }
        return false;
    }

    // Resumes on the coroutine's executor, by a post: of the thread that serves or stops the choice, of the
    // timer, or of this call where the coroutine only yields. False: the coroutine continues at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const coroutine_env env = detail::env_of(h);
        if (chosen_ != count_) return yield(h, env);
        return limit_.is_nothing() ? give_up(h, env) : suspend(h, env);
    }

    // For the times of a slot whose function waits: when the coroutine became ready, in ns; 0: not recorded.
    std::int64_t ready_at() noexcept {
        settle();
        if (yielded_at_ != 0) return yielded_at_;
        return chosen_ == count_ ? choice_.timed_out_at() : cases_[chosen_]->ready();
    }

  protected:
    using any_case = any_choice_case<Platform>;
    using stop_token = basic_stop_token<Platform>;

    choice_operation(std::size_t count, const wait_limit& limit, stop_token stop) noexcept
        : count_(count), chosen_(count), limit_(limit), stop_(std::move(stop)) {}
    // Sets the operations, before the await: as many as the constructor's `count`; null pointers are skipped.
    void set_cases(any_case* const* cases) noexcept { cases_ = cases; }

    ~choice_operation() = default;
    // Called by the destructors of derived classes, before their cases are destroyed: cancels the wait.
    void clean_up() noexcept {
        if (!is_unsettled_) return;
        listen_no_more();
        choice_.abandon();
        for (std::size_t i = 0; i < count_; ++i) {
            if (cases_[i] != nullptr) cases_[i]->leave();
        }
    }

    // The index of the case that was done. If none was, the number of cases: `status_without_case` tells why.
    // Errors: `stopped` if a stop of a pipeline's run, a stage's `time_limit` or a `when_any` ended the wait.
    std::size_t resumed() {
        settle();
        if (choice_.was_stopped(stopped_by::run)) throw stopped();
        return chosen_;
    }
    channel_status status_without_case() const noexcept {
        return choice_.was_stopped(stopped_by::request) ? channel_status::stopped : channel_status::timed_out;
    }

  private:
    struct end_waiting {  // the callback of a stop
        basic_choice<Platform>* choice;
        stopped_by by;
        void operator()() const noexcept { choice->stop(by); }
    };

    // The index of the case to try first: pseudorandom, from a counter of a channel. So tests can repeat it.
    std::size_t first_to_try() const noexcept;

    bool yield(std::coroutine_handle<> h, const coroutine_env& env) noexcept {  // does not wait
        if (env.executor == nullptr) return false;
        if (env.measured != nullptr) yielded_at_ = clock_of(*env.measured);
        env.executor->post(h);  // the coroutine may be running elsewhere from here on
        return true;
    }

    // Ends the wait before it begins, as no time is left. A stop that is already requested ends it, too: so a
    // loop of such operations sees the stop.
    bool give_up(std::coroutine_handle<> h, const coroutine_env& env) noexcept;
    WEIR_NOINLINE bool suspend(std::coroutine_handle<> h, const coroutine_env& env);

    // Unregisters the callbacks. Waits while another thread runs one of them.
    void listen_no_more() noexcept {
        on_stop_.reset();
        on_end_.reset();
    }

    // Called after the wait: finds the case that was done, and takes the other cases out of their lines.
    void settle() noexcept;

    any_case* const* cases_ = nullptr;  // an array of `count_` pointers
    const std::size_t count_;
    std::size_t chosen_;  // the index of the case that was done; `count_`: none
    const wait_limit limit_;
    const stop_token stop_;
    bool is_unsettled_ = false;    // the cases may be in line, and callbacks registered
    std::int64_t yielded_at_ = 0;  // in ns; 0: the coroutine has not yielded, or is not measured
    basic_choice<Platform> choice_;
    later<stop_callback<end_waiting>> on_end_;             // ends the wait at a stop of `env.ends`
    later<stop_callback<end_waiting, Platform>> on_stop_;  // ends the wait at a stop of `stop_`
};

WEIR_COMPILED(class choice_operation<standard_platform>);

}  // namespace weir::detail

#include <weir/channel/choice.ipp>

#endif
