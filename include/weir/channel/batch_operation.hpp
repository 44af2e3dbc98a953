// weir channel, internal: how a coroutine puts or gets several items at once
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_BATCH_OPERATION_HPP
#define WEIR_CHANNEL_BATCH_OPERATION_HPP

#include <weir/channel/channel_operation.hpp>
#include <weir/channel/slice.hpp>
#include <weir/channel/stop_listener.hpp>
#include <weir/channel/uninitialised_slot.hpp>
#include <weir/channel/waiter.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <span>         // for std::span
#include <type_traits>  // for std::is_nothrow_move_assignable_v
#include <utility>      // for std::move

namespace weir::detail {

// Moves what it can at once. Where that is nothing, it waits for one item, as a put or a get does, and moves
// what it can then.
template <class Channel, class Stop, bool Puts>
class batch_operation : public channel_operation<typename Channel::policy_type, Stop, Puts> {
    using base = channel_operation<typename Channel::policy_type, Stop, Puts>;
    using T = typename Channel::value_type;
    static_assert(Puts || std::is_nothrow_move_assignable_v<T>,
                  "weir: get_some moves items into objects that are there, so they must be assignable by a "
                  "move that doesn't throw; get gives one item after the other");

  public:
    batch_operation(Channel& channel, std::span<T> items, Stop stop = {}) noexcept
        : base(detail::inside(channel), items.data(), nullptr, std::move(stop)), items_(items) {
        if constexpr (!Puts) this->waiter_.item = place_.address();
    }
    batch_operation(const batch_operation&) = delete;
    batch_operation& operator=(const batch_operation&) = delete;
    // An item that nobody fetched: its coroutine was destroyed while it was on its way.
    ~batch_operation() {
        if (!Puts && this->waiter_.outcome == outcome::done) place_.destroy();
    }

    bool await_ready() noexcept {
        const std::uint64_t before = this->channel_->count_at(base::line_);
        moved_ = move_some(items_);
        return items_.empty() || (moved_ != 0 && moved_ <= left_of_slice(Puts, before));
    }
    // Resumes as the base does; or, if it moved some and used up its slice, by a post of its own.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return moved_ == 0 ? base::await_suspend(h) : base::goes_last(h);
    }
    std::size_t await_resume() {
        this->resumed();
        if (this->waiter_.outcome != outcome::done) return moved_;
        this->waiter_.outcome = outcome::fetched;
        if constexpr (!Puts) items_.front() = std::move(*place_.take());
        return 1 + move_some(items_.subspan(1));
    }

  private:
    std::size_t move_some(std::span<T> items) noexcept {
        if constexpr (Puts) {
            return this->channel_->put_some(items.data(), items.size());
        } else {
            return this->channel_->get_some(items.data(), items.size());
        }
    }

    const std::span<T> items_;
    std::size_t moved_ = 0;        // before it waited
    uninitialised_slot<T> place_;  // for the item that a get waits for
};

}  // namespace weir::detail

#endif
