// weir channel, internal: bodies of the functions of channel/channel_store.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_STORE_IPP
#define WEIR_CHANNEL_CHANNEL_STORE_IPP

#include <weir/channel/channel_store.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

template <class Policy>
WEIR_INLINE const char* channel_store<Policy>::contradiction() const noexcept {
    const std::size_t size = core::size();
    // A first put that was served elsewhere, and was too large, admits those behind it when it is
    // removed.
    const waiter* const putter =
        first_unanswered(putters_.front()) == putters_.front() ? putters_.front() : nullptr;
    const waiter* const getter = first_unanswered(getters_.front());
    if (size > ring_.places()) return "more items are in a channel than it has places";
    if (getter != nullptr && size != 0) {
        return "somebody waits to get from a channel that has an item";
    }
    if (putter != nullptr && size < capacity_ && fits(size, putter->item)) {
        return "somebody waits to put into a channel that has room";
    }
    if (closed_ && ((putter != nullptr && !drains_puts_) || getter != nullptr)) {
        return "somebody waits on a channel that is closed";
    }
    return nullptr;
}

template <class Policy>
WEIR_INLINE void channel_store<Policy>::admit_putters(slot* measured, wakes& woken) noexcept {
    while (core::size() < capacity_ && !putters_.empty()) {
        waiter* const putter = putters_.front();
        if (!fits(core::size(), putter->item)) break;
        if (!core::claim_waiter(*putter, side::put)) continue;
        const bool mark = is_mark(putter->item);
        core::remove_waiter(*putter, side::put, outcome::done, core::reading(measured), !mark);
        push(putter->item);
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed) - 1;
        const std::uint64_t gets = get_end_.count.load(std::memory_order_relaxed);
        slot* const owner = putter->measured;
        if (is_traced(owner) && !mark) record_trace(*owner, number, gets, measured);
        woken.push(*putter);
    }
}

template <class Policy>
WEIR_INLINE void channel_store<Policy>::close_locked(wakes& woken) noexcept {
    closed_ = true;
    for (const side line : {side::put, side::get}) {
        while (waiter* const w = core::claim_first_waiter(line)) {
            core::remove_waiter(*w, line, outcome::closed, core::reading(nullptr));
            woken.push(*w);
        }
    }
    if (core::has_sink() && !this->sink_->is_over()) items::tell_sink(nullptr);
}

template <class Policy>
WEIR_INLINE void channel_store<Policy>::close_to_newcomers_locked(wakes& woken) noexcept {
    if (putters_.empty()) return close_locked(woken);
    closed_ = true;
    drains_puts_ = true;
}

template <class Policy>
WEIR_INLINE auto channel_store<Policy>::discard(ring& discarded, wakes& woken) noexcept -> std::uint64_t {
    const std::uint64_t first = get_end_.count.load(std::memory_order_relaxed);
    const std::uint64_t last = put_end_.count.load(std::memory_order_relaxed);
    core::discard(last - first);
    get_end_.seen = last;
    get_end_.count.store(last, std::memory_order_relaxed);
    if (first != last) core::emptiness_changed(true, nullptr);
    ring_.swap(discarded);
    woken.budget = core::bytes_.remove(core::bytes_.bytes);
    return last;
}

template <class Policy>
WEIR_INLINE void channel_store<Policy>::replace_ring(ring& other, std::size_t capacity,
                                                     wakes& woken) noexcept {
    core::apply_capacity(capacity, core::has_sink());
    if (capacity > ring_.places() && ring_.places() != 0) {  // no places: the channel was cancelled
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
            ring_.move(i, other);
        }
        ring_.swap(other);
    }
    admit_putters(nullptr, woken);
    if (core::has_sink()) items::tell_sink(nullptr);
}

template <class Policy>
WEIR_INLINE void channel_store<Policy>::set_byte_limit(std::size_t bytes, wakes& woken) noexcept {
    const bool counted = core::bytes_.counts();
    core::bytes_.most = bytes;
    if (counted && !core::bytes_.counts()) core::bytes_.bytes = 0;
    if (!counted && core::bytes_.counts()) {
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
            add_bytes(ring_[i]);
        }
    }
    admit_putters(nullptr, woken);
}

}  // namespace weir::detail

#endif
