// weir cuda: finds out which work on a device is done, on an idle thread of an executor or on the context's
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_REACTOR_HPP
#define WEIR_CUDA_REACTOR_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <bit>       // for std::bit_width
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t
#include <limits>    // for std::numeric_limits
#include <optional>  // for std::optional

namespace weir::cuda {

/// How a `context` finds out that work on the device is done.
enum class completion_by : std::uint8_t {
    polling,       ///< an idle thread of the waiting coroutine's executor, or the context's thread, queries
                   ///< the device again and again while work is pending
    host_function  ///< the driver calls a host function from its own thread; later work of the stream waits
                   ///< for the call, which makes gaps between copies. After an error the driver never calls;
                   ///< so the context's thread also queries, each `context_options::watchdog`
};

/// Options of a `context`. The defaults are for copies of whole batches. A longer interval than a minute is
/// one minute.
struct context_options {
    completion_by how = completion_by::polling;  ///< how the end of work is detected
    bool or_host = false;  ///< without a device or a driver, the host does all work, at once
    /// The time of polling without a pause after work was queued or has ended, while it is unknown how long
    /// such work takes.
    duration spin = std::chrono::microseconds(20);
    /// Interval of polling after `spin`, for work that takes longer than usual, and for the ends of captures.
    duration period = std::chrono::microseconds(50);
    duration watchdog = std::chrono::milliseconds(10);  ///< interval of polling with `host_function`
};

namespace detail {

// Two errors of the device. `get()`: the first error that broke the device, for good. `refusal()`: the error
// of the last query whether work is done, or cudaSuccess.
class device_status {
  public:
    cudaError_t get() const noexcept {
        // relaxed, here and in set(): no other data is passed with the code
        return static_cast<cudaError_t>(code_.load(std::memory_order_relaxed));
    }
    void set(cudaError_t code) noexcept {
        int none = cudaSuccess;
        code_.compare_exchange_strong(none, static_cast<int>(code), std::memory_order_relaxed);
    }

    // relaxed, here and in set_refusal(): as in get()
    cudaError_t refusal() const noexcept {
        return static_cast<cudaError_t>(refusal_.load(std::memory_order_relaxed));
    }
    void set_refusal(cudaError_t code) noexcept {
        if (refusal() != code) refusal_.store(static_cast<int>(code), std::memory_order_relaxed);
    }

  private:
    standard_platform::atomic<int> code_{cudaSuccess};
    standard_platform::atomic<int> refusal_{cudaSuccess};
};

// Learns how long operations on a device take, by their number of bytes. Copies have bytes; the rate of a
// large copy gives the times of other large sizes. All other operations have 0 bytes. By these times, the
// thread that polls the device sleeps until shortly before the usual end of an operation. Then the thread
// polls without a pause for a bounded time. Instants and times in ns.
class usual_times {
  public:
    static constexpr std::int64_t unknown = 0;

    // Returns how long an operation of `bytes` bytes usually takes, rather too short than too long;
    // `unknown`: no operation of this size has ended yet, nor, if the size is large, any large copy.
    std::int64_t of(std::size_t bytes) const noexcept {
        const std::int64_t known = times_[std::bit_width(bytes)];
        if (known != unknown || bytes < least_of_rate) return known;
        return static_cast<std::int64_t>(static_cast<double>(bytes) * ns_per_byte_);
    }

    // Records that an operation has taken the time `took`. `gap`: the time since the previous poll;
    // the operation may have ended up to `gap` earlier.
    void learn(std::size_t bytes, std::int64_t took, std::int64_t gap) noexcept {
        if (took <= 0) return;
        std::int64_t& known = times_[std::bit_width(bytes)];
        const bool is_exact = gap <= 2 * lead;
        if (known == unknown || took < known) {
            known = took;
        } else if (is_exact) {
            known += (took - known) / 8;
        }
        if (bytes < least_of_rate) return;
        const double rate = static_cast<double>(took) / static_cast<double>(bytes);
        if (ns_per_byte_ <= 0 || rate < ns_per_byte_ || is_exact) ns_per_byte_ = rate;
    }

    // Returns when to poll next for an operation that began at `begun` and takes `usual`. An instant not
    // after `now` means: at once. `period`: how often to poll if the operation takes much longer than usual.
    static std::int64_t next_look(std::int64_t begun, std::int64_t usual, std::int64_t now,
                                  std::int64_t period) noexcept {
        const std::int64_t first = begun + usual - (lead + usual / 32);
        if (now < first) return first;
        return now < begun + usual + (lead + usual / 8) ? now : now + period;
    }

    // A thread that sleeps is to wake up at least `lead` before the usual end. Threads wake up late, above
    // all by the time that the processor takes to leave its idle state.
    static constexpr std::int64_t lead = 100'000;

  private:
    static constexpr std::size_t least_of_rate = std::size_t{1} << 16U;  // bytes from which a copy is large

    // The usual time of operations, by the std::bit_width of their bytes.
    std::int64_t times_[std::numeric_limits<std::size_t>::digits + 1]{};
    double ns_per_byte_ = 0;  // of large copies; 0: unknown
};

// Finds out which completions (pending operations) of a context are over, and finishes them. The thread that
// polls the mailbox calls `look`: an idle thread of an executor, or the context's thread (the guard of the
// mailbox), whose current device is the context's.
class reactor final : private mailbox::reader {
    using platform = standard_platform;
    static constexpr std::int64_t never = weir::detail::pollable::never;

  public:
    reactor(mailbox& box, event_pool& events, device_status& broken, context_options options) noexcept
        : box_(box), events_(events), broken_(broken), options_(options) {
        box.read_by(*this);
    }

    // The loop of the context's thread: ends when mailbox::ask_to_end() was called and all is finished.
    void run() noexcept {
        box_.guard([this](std::int64_t now) {
            // If the device is broken, the thread that found the error may be busy from now on: the context's
            // thread finishes the other completions.
            const bool has_to_look =
                box_.has_work_for_guard() || box_.is_ending() || broken_.get() != cudaSuccess;
            if (!has_to_look) return never;
            const auto is_last = [this](std::int64_t) {
                return first_ == nullptr && box_.is_ending() && box_.try_close();
            };
            return box_.look_here(now, is_last);
        });
    }

  private:
    std::int64_t look(std::int64_t now, bool by_guard) noexcept override {
        bool news = collect();
        if (first_ == nullptr) return never;
        std::optional<exempt_from_captures> asking;  // the context's thread is exempt for good
        if (!by_guard) asking.emplace();
        if (finish_all(now, by_guard)) news = true;
        last_look_ = now;
        if (news) spins_until_ = now + options_.spin.count();
        return next_look(now, by_guard);
    }

    // Appends new completions from the mailbox to the list, the oldest first, and sets `begun` of each.
    // Returns whether there were any.
    bool collect() noexcept {
        completion* c = box_.take_all();
        if (c == nullptr) return false;
        completion* row = nullptr;
        while (c != nullptr) {
            completion* const older = c->next;
            c->next = row;
            row = c;
            c = older;
        }
        for (c = row; c != nullptr; c = c->next) {
            *end_ = c;  // so that first_of() sees the new completions before `c`, too
            c->begun = first_of(c->on) == c || c->on == nullptr ? c->submitted : 0;
            end_ = &c->next;
        }
        return true;
    }

    // The first pending operation of a stream. Null: there is none.
    completion* first_of(cudaStream_t stream) const noexcept {
        completion* c = first_;
        while (c != nullptr && c->on != stream) c = c->next;
        return c;
    }

    // Finishes all completions whose operations are over, except, on an executor's thread, those that need
    // the context's thread. Returns whether there were any.
    bool finish_all(std::int64_t now, bool by_guard) noexcept {
        bool news = false;
        const bool asks_all = now >= next_watch_;
        if (asks_all) next_watch_ = now + options_.watchdog.count();
        completion** at = &first_;
        while (completion* const c = *at) {
            if ((c->needs_context_thread() && !by_guard) || !is_over(*c, asks_all)) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            if (*at == nullptr) end_ = at;
            learn_from(*c, now);
            finish(*c);
            news = true;
        }
        return news;
    }

    // Records how long the operation `c`, which has ended, took, and when the next operation of its stream
    // has begun.
    void learn_from(const completion& c, std::int64_t now) noexcept {
        const std::int64_t gap = now - last_look_;
        if (is_predictable(c) && c.result == cudaSuccess) times_.learn(c.bytes, now - c.begun, gap);
        completion* const next = c.on == nullptr ? nullptr : first_of(c.on);
        if (next == nullptr) return;
        next->begun = weir::detail::larger(next->submitted, now);
        next->begun_late = next->submitted < now && gap > usual_times::lead;
    }

    // Whether the operation began at a known instant.
    static bool is_predictable(const completion& c) noexcept {
        return c.on != nullptr && c.begun != 0 && !c.begun_late;
    }

    std::int64_t next_look(std::int64_t now, bool by_guard) const noexcept {  // when to poll next
        std::int64_t next = never;
        for (const completion* c = first_; c != nullptr; c = c->next) {
            next = weir::detail::smaller(next, next_look_at(*c, now, by_guard));
        }
        return next;
    }
    std::int64_t next_look_at(const completion& c, std::int64_t now, bool by_guard) const noexcept {
        if (c.needs_context_thread()) return by_guard ? now + options_.period.count() : never;
        if (c.has_host_function) return next_watch_;
        if (c.begun == 0) return never;  // the operation before `c` in its stream is polled
        const std::int64_t usual = is_predictable(c) ? times_.of(c.bytes) : usual_times::unknown;
        if (usual != usual_times::unknown) {
            return usual_times::next_look(c.begun, usual, now, options_.period.count());
        }
        return now < spins_until_ ? now : now + options_.period.count();
    }

    // `asks_all`: also polls completions with a host function.
    bool is_over(completion& c, bool asks_all) noexcept {
        if (c.event == nullptr && !c.captured) return true;  // nothing to wait for: needs_context_thread()
        c.result = broken_.get();
        if (c.result != cudaSuccess) return true;
        // When the context ends, the end of a capture is not waited for: the thread that captures may be the
        // thread that ends the context.
        if (c.captured) return box_.is_ending() || !is_captured(*c.captured);
        // The driver calls the host function only after success. acquire; pairs with on_host_function()
        if (c.called.load(std::memory_order_acquire)) return true;
        if (c.has_host_function && !asks_all) return false;
        c.result = without_last_error(cudaEventQuery(c.event));
        const bool has_answer = c.result == cudaSuccess || c.result == cudaErrorNotReady;
        broken_.set_refusal(has_answer ? cudaSuccess : c.result);
        if (has_answer) return c.result == cudaSuccess;
        // The event was captured into a graph, or was destroyed: it will never be complete.
        if (c.result == cudaErrorCapturedEvent || c.result == cudaErrorInvalidResourceHandle) return true;
        // A waiter that is told of the end reuses the memory of the work. So any other error counts as the
        // end of the work only if no queued work can be done after the error.
        if (!ends_all_work(c.result)) return false;
        broken_.set(c.result);
        c.result = broken_.get();
        return true;
    }

    void finish(completion& c) noexcept {  // `c` is over: calls its `then`
        if (c.returns_event && c.result != cudaErrorInvalidResourceHandle) events_.give(c.event);
        if (c.needs_context_thread()) box_.finished_for_context_thread();
        c.then(c);
        // Reset here: these destructors may make CUDA calls, and the driver's thread, which must make none,
        // may be the last owner of the completion.
        c.kept.reset();
        c.promised.reset();
        c.disown();
    }

    mailbox& box_;
    event_pool& events_;     // of the context
    device_status& broken_;  // of the context
    const context_options options_;
    usual_times times_;
    // Only the thread that polls uses the members below.
    completion* first_ = nullptr;   // the list of pending completions
    completion** end_ = &first_;    // where the next one is appended
    std::int64_t spins_until_ = 0;  // until then, operations of unknown time are polled without a pause
    std::int64_t next_watch_ = 0;   // when completions with a host function are polled, too
    std::int64_t last_look_ = 0;    // when look() was called last
};

}  // namespace detail

}  // namespace weir::cuda

#endif
