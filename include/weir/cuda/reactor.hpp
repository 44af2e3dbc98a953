// weir cuda: the thread that finds out which work on a device is done
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_REACTOR_HPP
#define WEIR_CUDA_REACTOR_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <mutex>    // for std::mutex, std::scoped_lock
#include <vector>   // for std::vector

namespace weir::cuda {

/// How a `context` finds out that work on the device is done.
enum class completion_by : std::uint8_t {
    polling,       ///< the context's thread queries the device again and again while work is pending
    host_function  ///< the driver calls a host function from its own thread. After an error the driver never
                   ///< calls; so the context's thread also queries, at `watchdog` intervals. Work behind it
                   ///< in the stream waits for the host function: there are gaps between copies
};

/// Options of a `context`. The defaults are for copies of whole batches.
struct context_options {
    completion_by how = completion_by::polling;  ///< how the end of work is detected
    bool or_host = false;  ///< without a device or a driver, the host does the work: see `context::on_host`
    duration spin = std::chrono::microseconds(20);      ///< time of polling without a pause after work was
                                                        ///< queued or has ended
    duration period = std::chrono::microseconds(50);    ///< interval of polling after `spin`
    duration watchdog = std::chrono::milliseconds(10);  ///< interval of polling with `host_function`
};

namespace detail {

// The events of a context, to be used again.
class event_pool {
  public:
    explicit event_pool(unsigned flags) noexcept : flags_(flags) {}
    event_pool(const event_pool&) = delete;
    event_pool& operator=(const event_pool&) = delete;
    ~event_pool() {
        if (free_.empty()) return;
        const exempt_from_captures destroying;
        for (cudaEvent_t e : free_) without_last_error(cudaEventDestroy(e));
    }

    // Returns null if the pool is empty: then the caller makes an event, and gives it back by give() later.
    // Errors: std::bad_alloc.
    cudaEvent_t take() {
        const std::scoped_lock held(lock_);
        if (free_.empty()) {
            free_.reserve(++made_);  // so that give() needs no memory
            return nullptr;
        }
        const cudaEvent_t event = free_.back();
        free_.pop_back();
        return event;
    }
    unsigned flags() const noexcept { return flags_; }  // for the caller that makes an event
    void give(cudaEvent_t event) noexcept {
        const std::scoped_lock held(lock_);
        free_.push_back(event);
    }

  private:
    const unsigned flags_;
    std::mutex lock_;
    std::vector<cudaEvent_t> free_;
    std::size_t made_ = 0;
};

// Two errors of the device: the first one that broke the device, which stays; and the last one of a query
// whether work is done (a refusal).
class device_status {
  public:
    cudaError_t get() const noexcept {
        // relaxed: the code is all there is to know
        return static_cast<cudaError_t>(code_.load(std::memory_order_relaxed));
    }
    void set(cudaError_t code) noexcept {
        int none = cudaSuccess;
        code_.compare_exchange_strong(none, static_cast<int>(code), std::memory_order_relaxed);
    }

    // relaxed, too
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

// Watches all completions of a context. Runs on the context's thread, whose current device is the context's.
// The clock only decides when the reactor polls again.
class reactor {
    using platform = standard_platform;

  public:
    reactor(mailbox& box, event_pool& events, device_status& broken, context_options options) noexcept
        : box_(box), events_(events), broken_(broken), options_(options) {}

    // Runs until mailbox::ask_to_end() was called and all completions are finished.
    void run() noexcept {
        weir::detail::end_waits_on_time();
        for (;;) {
            bool news = collect();
            if (look_at_all()) news = true;
            if (first_ == nullptr && box_.is_ending() && box_.try_close()) return;
            wait(news);
        }
    }

  private:
    // Appends new completions from the mailbox to the list, the oldest first. Returns whether there were any.
    bool collect() noexcept {
        completion* c = box_.take_all();
        if (c == nullptr) return false;
        completion* row = nullptr;
        completion* const last = c;
        while (c != nullptr) {
            completion* const older = c->next;
            c->next = row;
            row = c;
            c = older;
        }
        *end_ = row;
        end_ = &last->next;
        return true;
    }

    // Finishes all completions whose operations are over. Returns whether there were any.
    bool look_at_all() noexcept {
        bool news = false;
        const std::int64_t now = platform::now();
        const bool asks_all = now >= next_watch_;
        if (asks_all) next_watch_ = now + options_.watchdog.count();
        polls_ = false;
        completion** at = &first_;
        while (completion* const c = *at) {
            if (!is_over(*c, asks_all)) {
                if (!c->has_function) polls_ = true;
                at = &c->next;
                continue;
            }
            *at = c->next;
            if (*at == nullptr) end_ = at;
            finish(*c);
            news = true;
        }
        return news;
    }

    // `asks_all`: also polls completions with a host function.
    bool is_over(completion& c, bool asks_all) noexcept {
        if (c.event == nullptr && !c.captured) return true;  // nothing to wait for
        c.result = broken_.get();
        if (c.result != cudaSuccess) return true;
        // When the context ends, the end of a capture is not waited for: the thread that captures may be the
        // thread that ends the context.
        if (c.captured) return box_.is_ending() || !is_captured(*c.captured);
        // The driver calls only after work that succeeded. acquire; pairs with on_host_function()
        if (c.called.load(std::memory_order_acquire)) return true;
        if (c.has_function && !asks_all) return false;
        c.result = cudaEventQuery(c.event);
        const bool says = c.result == cudaSuccess || c.result == cudaErrorNotReady;
        broken_.set_refusal(says ? cudaSuccess : c.result);
        if (says) return c.result == cudaSuccess;
        // The event was captured into a graph, or was destroyed: it will never be complete.
        if (c.result == cudaErrorCapturedEvent || c.result == cudaErrorInvalidResourceHandle) return true;
        // At the end, the waiter reuses the memory of the work. So no other error counts as the end.
        if (!ends_all_work(c.result)) return false;
        broken_.set(c.result);
        c.result = broken_.get();
        return true;
    }

    void finish(completion& c) noexcept {
        if (c.returns_event && c.result != cudaErrorInvalidResourceHandle) events_.give(c.event);
        c.then(c);
        // Reset here: the driver may disown the completion last, and these destructors may make CUDA calls.
        c.kept.reset();
        c.promised.reset();
        c.disown();
    }

    void wait(bool news) noexcept {
        if (first_ == nullptr) {
            box_.wait(-1);
            return;
        }
        if (broken_.get() != cudaSuccess) return;  // then the remaining completions end at once
        if (!polls_) {
            box_.wait(options_.watchdog.count());
            return;
        }
        const std::int64_t now = platform::now();
        if (news) spins_until_ = now + options_.spin.count();
        if (now < spins_until_) {
            platform::pause();  // not yield(): where all cores are busy, that takes milliseconds
        } else {
            box_.wait(options_.period.count());
        }
    }

    mailbox& box_;
    event_pool& events_;
    device_status& broken_;
    const context_options options_;
    completion* first_ = nullptr;
    completion** end_ = &first_;
    bool polls_ = false;            // the list has a completion without a host function
    std::int64_t spins_until_ = 0;  // polls without a pause until this time
    std::int64_t next_watch_ = 0;   // when completions with a host function are polled, too
};

}  // namespace detail

}  // namespace weir::cuda

#endif
