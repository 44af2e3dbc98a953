// weir channel, internal: bodies of the functions of channel/any_channel.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ANY_CHANNEL_IPP
#define WEIR_CHANNEL_ANY_CHANNEL_IPP

#include <weir/channel/any_channel.hpp>

#include <weir/platform/config.hpp>

#include <vector>  // for std::vector

namespace weir::detail {

template <class Policy>
WEIR_INLINE any_channel<Policy>::~any_channel() = default;

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::block(side line, void* item, duration max_wait) -> outcome {
    detail::check_threads_of(core::clock_.owner());
    typename core::parker flag;
    waiter w(item, nullptr);
    w.set_thread(&flag, max_wait != (duration::max)());
    wakes woken;
    executor* ex = nullptr;
    outcome result;
    {
        const typename core::whole_lock held(*this);
        result = attempt(line, w, woken);
        if (result == outcome::pending) ex = core::wait_in_line(w, line);
    }
    core::wake_all(woken);
    if (result != outcome::pending) return result;
    if (core::consumers_help_ && ex != nullptr && max_wait == (duration::max)()) {
        // The thread works in the place of a thread of the executor. `work_in_lent_place` also returns true
        // if `flag` was not set, but poked: the thread was only woken, and `w` is not served.
        if (detail::work_in_lent_place(*ex, flag) && flag.is_set()) return w.outcome;
    }
    return block_in_line(w, line, flag, ex, max_wait);
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::close() noexcept {
    locked_change locked(*this);
    close_locked(locked.woken());
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::close_to_newcomers() noexcept {
    locked_change locked(*this);
    if (putters_.empty()) return close_locked(locked.woken());
    closed_ = true;
    keeps_waiting_puts_ = true;
    puts::end_early_puts(locked.woken());
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::cancel() noexcept {
    ring discarded(type_);  // receives the items, to destroy them after unlocking
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    {
        locked_change locked(*this);
        close_locked(locked.woken());
        first = get_end_.count.load(std::memory_order_relaxed);
        last = discard(discarded, locked.woken());
    }
    for (; first != last; ++first) discarded.destroy(first);
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::set_capacity(std::size_t capacity, std::size_t of_sink) {
    core::check_capacity(capacity);
    ring other(type_, capacity);  // its destructor frees the old memory, after unlocking
    std::vector<put_order::place> places(core::order_ != nullptr ? other.places() : 0);
    locked_change locked(*this, true);
    if (core::has_sink() && of_sink != 0) core::sink_->set_capacity(of_sink);
    if (of_sink != 0) sink_capacity_ = of_sink + 1;
    core::apply_capacity(capacity, core::has_sink());
    if (core::order_ != nullptr) core::order_->set_window(capacity - sink_capacity_);
    if (capacity > ring_.places() && ring_.places() != 0) {  // no places: the channel was cancelled
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
            ring_.move(i, other);
        }
        if (core::order_ != nullptr) {
            core::order_->each_item([&](std::uint64_t number) { ring_.move(puts::place_of(number), other); });
            core::order_->resize(places);
        }
        ring_.swap(other);
    }
    puts::admit_putters(nullptr, locked.woken());
    if (core::has_sink()) items::update_sink_meter(nullptr);
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::merge_sink(const std::string& sink, std::size_t capacity,
                                                 std::size_t of_sink, std::size_t bytes_of_sink) {
    core::merged_name_ = owned<const std::string>(new const std::string(core::name_ + " | " + sink));
    set_max_bytes(detail::smaller(core::bytes_.most + bytes_of_sink, SIZE_MAX / 2));  // more is refused
    set_capacity(capacity, of_sink);
    if constexpr (Policy::statistics) {
        core::sink_ = owned<sink_meter<typename core::platform, keeps_histograms<Policy>>>(
            new sink_meter<typename core::platform, keeps_histograms<Policy>>(of_sink));
        const typename core::whole_lock held(*this, true);
        core::apply_capacity(capacity, true);  // from now on one lock guards both ends
    }
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::set_max_bytes(std::size_t bytes) {
    detail::refuse_negative(bytes, "weir: a channel's limit in bytes was negative; 0 means no limit");
    locked_change locked(*this);
    const bool counted = core::bytes_.counts();  // bytes were counted until now
    core::bytes_.most = bytes;
    if (counted && !core::bytes_.counts()) core::bytes_.bytes = 0;
    if (!counted && core::bytes_.counts()) {
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
            puts::add_bytes(ring_[i]);
        }
        if (core::order_ != nullptr) {
            core::order_->each_item([this](std::uint64_t number) {
                if (!core::order_->refuses(number)) puts::add_bytes(ring_[puts::place_of(number)]);
            });
        }
    }
    admit_putters_to_sink(locked.woken());
}

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::stats(std::optional<std::int64_t> now, later<sink_figures>* sink)
    -> channel_stats {
    channel_stats s;
    s.name = core::name_;  // allocates, so not under the locks
    const typename core::whole_lock held(*this);
    core::fill(s, now, sink);
    if (sink != nullptr && *sink && s.size != 0 && core::bytes_.counts()) {
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (std::uint64_t i = end - (*sink)->num_before; i != end; ++i) {
            (*sink)->bytes_before += type_.bytes(ring_[i]);
        }
    }
    return s;
}

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::block_in_line(waiter& w, side line, typename core::parker& flag,
                                                    executor* ex, duration max_wait) -> outcome {
    const bool has_no_limit = max_wait == (duration::max)();
    const basic_blocked_thread<typename core::platform> here(has_no_limit ? &flag : nullptr);
    const auto now = [&ex] {
        return ex != nullptr ? ex->now() : time_point(duration(core::platform::now()));
    };
    const auto limit_after = [&](std::int64_t begin) {
        return weir::saturating_add(time_point(duration(begin)), detail::larger(max_wait, duration(0)));
    };
    time_point limit = (time_point::max)();
    std::int64_t begin = 0;
    if (!has_no_limit) {
        begin = core::platform::now();
        limit = limit_after(now().time_since_epoch().count());
    }
    const auto check_executor = [&] {
        if (ex == nullptr || core::clock_.owner() != nullptr) return;
        ex = nullptr;  // was destroyed meanwhile
        if (!has_no_limit) limit = limit_after(begin);
    };
    try {
        while (!flag.is_set()) {
            check_executor();
            const bool helping = detail::help_until(flag, ex, limit);  // has run coroutines, or slept
            if (flag.is_set()) break;
            check_executor();
            if (!helping) thread_place::leave_here();
            if (has_no_limit) {
                if (!helping) here.wait(flag);
                continue;
            }
            const std::int64_t left =
                time_between(now().time_since_epoch().count(), limit.time_since_epoch().count());
            if (left <= 0) break;
            if (!helping) flag.wait(left);
        }
    } catch (...) {
        if (forget(w, line)) throw;  // else the waiter was served
    }
    if (!flag.is_set()) {
        if (forget(w, line)) return outcome::timed_out;
        while (!flag.wait()) {  // the thread that has just served the waiter sets the flag next
        }
    }
    return w.outcome;
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::admit_waiting_puts() noexcept {
    locked_change locked(*this);
    if (core::bytes_.most != 0) admit_putters_to_sink(locked.woken());
}

template <class Policy>
WEIR_INLINE const char* any_channel<Policy>::contradiction() const noexcept {
    const auto first_unclaimed = [](const waiter* w) {  // skips waiters of choices that are claimed
        while (w != nullptr && w->choice != nullptr && w->choice->is_claimed()) w = w->next;
        return w;
    };
    const std::size_t size = core::size();
    // The first put may belong to a choice (a `select`) that another channel has served. If its item is too
    // large to go in, the puts behind it may fit: they are admitted when the first put is removed.
    const waiter* const putter =
        first_unclaimed(putters_.front()) == putters_.front() ? putters_.front() : nullptr;
    const waiter* const getter = first_unclaimed(getters_.front());
    if (size > ring_.places()) return "more items are in a channel than it has places";
    if (getter != nullptr && size != 0) {
        return "somebody waits to get from a channel that has an item";
    }
    if (putter != nullptr && size < capacity_ && puts::fits(size, putter->item)) {
        return "somebody waits to put into a channel that has room";
    }
    if (closed_ && ((putter != nullptr && !keeps_waiting_puts_) || getter != nullptr)) {
        return "somebody waits on a channel that is closed";
    }
    return puts::early_contradiction();
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::close_locked(wakes& woken) noexcept {
    closed_ = true;
    for (const side line : {side::put, side::get}) {
        while (waiter* const w = core::claim_first_waiter(line)) {
            core::remove_waiter(*w, line, outcome::closed, core::reading(nullptr));
            woken.push(*w);
        }
    }
    puts::end_early_puts(woken);
    if (core::has_sink() && !this->sink_->is_over()) items::update_sink_meter(nullptr);
}

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::discard(ring& discarded, wakes& woken) noexcept -> std::uint64_t {
    const std::uint64_t first = get_end_.count.load(std::memory_order_relaxed);
    const std::uint64_t last = put_end_.count.load(std::memory_order_relaxed);
    core::discard(last - first);
    const std::uint64_t end = core::order_ != nullptr ? puts::gather_early() : last;
    get_end_.seen = last;
    get_end_.count.store(last, std::memory_order_relaxed);
    if (first != last) core::emptiness_changed(true, nullptr);
    ring_.swap(discarded);
    woken.budget = core::bytes_.remove(core::bytes_.bytes);
    return end;
}

}  // namespace weir::detail

#endif
