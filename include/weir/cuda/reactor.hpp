// weir cuda: the thread that finds out which work on a device is done
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_REACTOR_HPP
#define WEIR_CUDA_REACTOR_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/error.hpp>
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
    polling,       ///< a thread of its asks the device, again and again while there is something to wait for
    host_function  ///< the driver says so, from a thread of its own; and in case that it never does, as
                   ///< after an error, the thread asks every now and then. In the stream, what is queued
                   ///< behind waits for that call: copies no longer follow each other at once
};

/// What a `context` is to do: the defaults are for copies of whole batches.
struct context_options {
    completion_by how = completion_by::polling;  ///< how its thread hears of the end of work
    bool or_host = false;  ///< without a device, or a driver, the host does all: see `context::on_host`
    duration spin = std::chrono::microseconds(20);      ///< it looks without a break for so long after
                                                        ///< work was begun or was found done,
    duration period = std::chrono::microseconds(50);    ///< and then once in this time
    duration watchdog = std::chrono::milliseconds(10);  ///< once in this time, where the driver says so
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
        const beside_captures destroying;
        for (cudaEvent_t e : free_) quietly(cudaEventDestroy(e));
    }

    // Null if there is none: then one is to be made, and given back here. Errors: std::bad_alloc.
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
    unsigned flags() const noexcept { return flags_; }  // of those that are made
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

// What is wrong with the device, from the first time that something is, for good. And what the runtime said
// last instead of saying whether work is done.
class verdict {
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

// Runs on a thread of its own, on which the device is the current one. The clock only says when it looks
// again.
class reactor {
    using platform = standard_platform;

  public:
    reactor(mailbox& box, event_pool& events, verdict& broken, context_options options) noexcept
        : box_(box), events_(events), broken_(broken), options_(options) {}

    // Until the mailbox was asked to end, and everything is done.
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
    // Puts what is new behind what is there, in the order in which it was begun.
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

    bool is_over(completion& c, bool asks_all) noexcept {
        if (c.event == nullptr && !c.captured) return true;  // there is nothing to wait for, and a result
        c.result = broken_.get();
        if (c.result != cudaSuccess) return true;
        // Who captures may be the one who ends the context.
        if (c.captured) return box_.is_ending() || !is_captured(*c.captured);
        // The driver calls only after work that went well. acquire; pairs with told_by_driver()
        if (c.called.load(std::memory_order_acquire)) return true;
        if (c.has_function && !asks_all) return false;
        c.result = cudaEventQuery(c.event);
        const bool says = c.result == cudaSuccess || c.result == cudaErrorNotReady;
        broken_.set_refusal(says ? cudaSuccess : c.result);
        if (says) return c.result == cudaSuccess;
        // It was put into a graph, or somebody has destroyed it: it has no end.
        if (c.result == cudaErrorCapturedEvent || c.result == cudaErrorInvalidResourceHandle) return true;
        // Who is told of the end uses the memory again: nothing but the end may be taken for it.
        if (!ends_all_work(c.result)) return false;
        broken_.set(c.result);
        c.result = broken_.get();
        return true;
    }

    void finish(completion& c) noexcept {
        if (c.returns_event && c.result != cudaErrorInvalidResourceHandle) events_.give(c.event);
        c.then(c);
        // Not left to the driver, which may be the last to let go: what goes here may make calls of the
        // runtime.
        c.kept.reset();
        c.promised.reset();
        c.disown();
    }

    void wait(bool news) noexcept {
        if (first_ == nullptr) {
            box_.wait(-1);
            return;
        }
        if (broken_.get() != cudaSuccess) return;  // the others are to hear of it at once
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
    verdict& broken_;
    const context_options options_;
    completion* first_ = nullptr;
    completion** end_ = &first_;
    bool polls_ = false;  // there is something of which nobody tells
    std::int64_t spins_until_ = 0;
    std::int64_t next_watch_ = 0;
};

}  // namespace detail

}  // namespace weir::cuda

#endif
