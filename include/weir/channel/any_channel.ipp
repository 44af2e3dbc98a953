// weir channel, internal: bodies of the functions of channel/any_channel.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ANY_CHANNEL_IPP
#define WEIR_CHANNEL_ANY_CHANNEL_IPP

#include <weir/channel/any_channel.hpp>

#include <weir/platform/config.hpp>

#include <memory>  // for std::make_unique

namespace weir::detail {

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::block(side line, void* item, duration max_wait) -> outcome {
    detail::check_threads_of(core::clock_.owner());
    typename core::parker flag;
    waiter w(item, nullptr);
    w.set_thread(&flag, max_wait != (duration::max)());
    wakes woken;
    executor* ex = nullptr;
    outcome how;
    {
        const typename core::whole_lock held(*this);
        how = this->attempt(line, w, woken);
        if (how == outcome::pending) ex = core::wait_in_line(w, line);
    }
    core::wake_all(woken);
    return how == outcome::pending ? block_in_line(w, line, flag, ex, max_wait) : how;
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::close() noexcept {
    change locked(*this);
    this->close_locked(locked.woken());
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::close_to_newcomers() noexcept {
    change locked(*this);
    this->close_to_newcomers_locked(locked.woken());
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::cancel() noexcept {
    ring discarded(this->type_);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    {
        change locked(*this);
        this->close_locked(locked.woken());
        first = this->get_end_.count.load(std::memory_order_relaxed);
        last = this->discard(discarded, locked.woken());
    }
    for (; first != last; ++first) discarded.destroy(first);
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::set_capacity(std::size_t capacity, std::size_t of_sink) {
    core::check_capacity(capacity);
    ring other(this->type_, capacity);  // the old block is freed after unlocking
    change locked(*this, true);
    if (core::has_sink() && of_sink != 0) core::sink_->set_capacity(of_sink);
    this->replace_ring(other, capacity, locked.woken());
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::merge_sink(const std::string& sink, std::size_t capacity,
                                                 std::size_t of_sink, std::size_t bytes_of_sink) {
    core::merged_name_ = std::make_unique<const std::string>(core::name_ + " | " + sink);
    set_max_bytes(core::bytes_.most + bytes_of_sink);
    set_capacity(capacity);
    if constexpr (Policy::statistics) {
        core::sink_ =
            std::make_unique<sink_meter<typename core::platform, keeps_histograms<Policy>>>(of_sink);
        const typename core::whole_lock held(*this, true);
        core::apply_capacity(capacity, true);
    }
}

template <class Policy>
WEIR_INLINE void any_channel<Policy>::set_max_bytes(std::size_t bytes) {
    detail::refuse_negative(bytes, "weir: a channel's limit in bytes was negative; 0 means no limit");
    change locked(*this);
    this->set_byte_limit(bytes, locked.woken());
}

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::stats(std::optional<std::int64_t> now,
                                            std::optional<sink_figures>* sink) -> channel_stats {
    channel_stats s;
    s.name = core::name_;  // allocates, so not under the locks
    const typename core::whole_lock held(*this);
    core::fill(s, now, sink);
    if (sink != nullptr && sink->has_value() && s.size != 0 && core::bytes_.counts()) {
        const std::uint64_t end = this->put_end_.count.load(std::memory_order_relaxed);
        for (std::uint64_t i = end - (*sink)->num_before; i != end; ++i) {
            (*sink)->bytes_before += this->type_.bytes(this->ring_[i]);
        }
    }
    return s;
}

template <class Policy>
WEIR_INLINE auto any_channel<Policy>::block_in_line(waiter& w, side line, typename core::parker& flag,
                                                    executor* ex, duration max_wait) -> outcome {
    const bool has_no_limit = max_wait == (duration::max)();
    const basic_blocked_thread<typename core::platform> here(has_no_limit ? &flag : nullptr);
    const auto now = [ex] { return ex != nullptr ? ex->now() : time_point(duration(core::platform::now())); };
    const time_point limit = has_no_limit
                                 ? (time_point::max)()
                                 : weir::saturating_add(now(), detail::larger(max_wait, duration(0)));
    try {
        while (!flag.is_set()) {
            const bool helping = detail::help_until(flag, ex, limit);
            if (flag.is_set()) break;
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
    change locked(*this);
    if (core::bytes_.most != 0) this->admit_putters(nullptr, locked.woken());
}

}  // namespace weir::detail

#endif
