// weir channel, internal: one put or get of a choice: of a select, or of a wait with a time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHOICE_CASE_HPP
#define WEIR_CHANNEL_CHOICE_CASE_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// A put or get of a choice, for any item type. Used by `choice_operation`.
template <class Platform>
class any_choice_case {
  public:
    using choice = basic_choice<Platform>;
    using waiter = basic_waiter<Platform>;
    enum class joined : std::uint8_t { waits, done, too_late };

    any_choice_case() noexcept = default;
    any_choice_case(const any_choice_case&) = delete;
    any_choice_case& operator=(const any_choice_case&) = delete;

    // Tries the operation without waiting. True: it is done, or the channel is closed. Errors:
    // `forked_error`.
    virtual bool try_now() = 0;
    // Joins the line of the channel. `done`: the operation did not need to wait. `too_late`: another
    // operation of the choice was served before.
    virtual joined join(choice& all, slot* work_of) noexcept = 0;
    // Leaves the line, if the operation is in it. Afterwards the channel does not refer to this object.
    virtual void leave() noexcept = 0;
    // See `channel_core::next_choice_number`.
    virtual std::uint64_t number() noexcept = 0;

    bool is_of(const waiter* w) const noexcept { return w == waiter_; }
    // Whether the operation ends the slice of its coroutine; valid after `try_now`.
    bool ends_slice() const noexcept { return ends_slice_; }
    // When the wait ended, in ns; 0: unknown.
    std::int64_t ready() const noexcept { return waiter_->ready; }

  protected:
    ~any_choice_case() = default;

    const waiter* waiter_ = nullptr;
    bool ends_slice_ = false;
};

template <class Channel, bool Puts>
class choice_case final : public any_choice_case<typename Channel::core_type::platform> {
    using base = any_choice_case<typename Channel::core_type::platform>;
    using policy = typename Channel::policy_type;
    using store = any_channel<policy>;
    using core = typename store::core;
    using side = typename core::side;
    using T = typename Channel::value_type;
    using typename base::choice;
    using typename base::joined;
    static constexpr side line = Puts ? side::put : side::get;

  public:
    // A put.
    choice_case(Channel& channel, T& item) noexcept : choice_case(channel, static_cast<void*>(&item)) {}
    // A get.
    explicit choice_case(Channel& channel) noexcept : choice_case(channel, static_cast<void*>(nullptr)) {
        own_.item = place_.address();
    }
    // Destroys an item that was handed over to a coroutine that was destroyed before it resumed.
    ~choice_case() {
        if constexpr (!Puts) {
            if (own_.outcome == outcome::done) place_.destroy();
        }
    }

    // Not inlined: see WEIR_NOINLINE.
    WEIR_NOINLINE bool try_now() override {
        this->ends_slice_ = is_end_of_slice<policy>(Puts, channel_.count_at(line), nullptr);
        if constexpr (Puts) {
            if (channel_.template put_at_once<T>(own_)) return true;
        } else {
            if (channel_.template get_at_once<T>(own_)) return true;
        }
        detail::check_threads_of(channel_.clock_.owner());
        typename store::change locked(channel_);
        own_.outcome = channel_.attempt(line, own_, locked.woken());
        return own_.outcome != outcome::pending;
    }

    WEIR_NOINLINE joined join(choice& all, slot* work_of) noexcept override {
        typename store::change locked(channel_);
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

    // The result of the operation.
    auto take() noexcept {
        const channel_status how =
            own_.outcome == outcome::done ? channel_status::success : channel_status::closed;
        if constexpr (Puts) {
            return how;
        } else {
            if (how != channel_status::success) return get_result<T>(how);
            own_.outcome = outcome::fetched;
            return get_result<T>(*place_.take());
        }
    }

  private:
    struct nothing {};
    using place = std::conditional_t<Puts, nothing, uninitialised_slot<T>>;

    choice_case(Channel& channel, void* item) noexcept
        : channel_(detail::inside(channel)), own_(item, nullptr) {
        own_.ready = 0;
        this->waiter_ = &own_;
    }

    store& channel_;
    typename core::waiter own_;
    bool in_line_ = false;  // has joined the line
    [[no_unique_address]] place place_;
};

}  // namespace weir::detail

#endif
