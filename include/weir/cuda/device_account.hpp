// weir cuda, internal: limits the device memory in use by a pool, and lets coroutines wait for freed memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ACCOUNT_HPP
#define WEIR_CUDA_DEVICE_ACCOUNT_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/platform/parking.hpp>

#include <algorithm>  // for std::max, std::min
#include <cstddef>    // for std::size_t
#include <memory>     // for std::enable_shared_from_this, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <new>        // for std::align_val_t
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::cuda::detail {

// Shared by a `device_pool` and all pieces of its memory (`device_memory`). Counts memory as in use from its
// allocation until its stream has passed the point at which the memory was freed. A coroutine that finds too
// little memory waits for the item of `turn`, and then, one coroutine at a time, for an item of `news`.
class device_account : public std::enable_shared_from_this<device_account> {
    static constexpr std::align_val_t alignment{256};

  public:
    // `from`: null: memory comes from the runtime. `max_bytes`: 0: no limit.
    device_account(std::shared_ptr<core> of, device_allocator* from, std::size_t max_bytes, std::string name)
        : turn(1, clock_), news(1, clock_, std::move(name)), core_(std::move(of)), from_(from),
          max_(max_bytes) {
        pass_turn();
    }
    device_account(const device_account&) = delete;
    device_account& operator=(const device_account&) = delete;
    ~device_account() {
        freed_.each_to_free([this](void* memory, const pooled_event& behind) {
            while (!behind.is_over()) weir::detail::parker().wait(50'000);
            core_->free(memory, nullptr);
        });
    }

    const std::shared_ptr<core>& of() const noexcept { return core_; }
    std::size_t max_bytes() const noexcept { return max_; }

    std::size_t used() {
        harvest();
        const std::scoped_lock held(lock_);
        return used_;
    }

    // Returns null if too little memory is free now, or if another coroutine waits for memory.
    void* try_take(std::size_t bytes, cudaStream_t s) {
        check_size(bytes);
        {
            const std::scoped_lock held(lock_);
            if (waiting_ != 0) return nullptr;
        }
        return attempt(bytes, s);
    }

    // For the coroutine whose turn it is. Returns null if too little memory is free now.
    void* attempt(std::size_t bytes, cudaStream_t s) {
        if (!reserve(bytes)) return nullptr;
        void* memory = nullptr;
        try {
            memory = allocate((std::max<std::size_t>)(bytes, 1), s);
        } catch (...) {
            came_back(bytes);
            throw;
        }
        if (memory == nullptr) came_back(bytes);
        return memory;
    }

    // Frees the memory behind the work of the stream, and records `behind` after that. Returns true if the
    // memory is in use until `behind` is over. False: it is free already; or the stream is captured, and the
    // memory is freed after the capture.
    bool give(void* memory, std::size_t bytes, const stream& on,
              const std::shared_ptr<pooled_event>& behind) noexcept {
        if (core_->on_host()) {
            ::operator delete(memory, alignment);
            came_back(bytes);
            return false;
        }
        cudaStream_t const s = on.get();
        if (is_captured(s)) {
            defer_free(memory, bytes, on, behind);
            return false;
        }
        const bool later = from_ == nullptr && !core_->frees_in_order();
        if (from_ != nullptr) {
            from_->free(memory, (std::max<std::size_t>)(bytes, 1), s);
        } else if (!later) {
            core_->free(memory, s);
        }
        if (without_last_error(cudaEventRecord(behind->get(), s)) == cudaSuccess &&
            keep(s, {behind, bytes, later ? memory : nullptr})) {
            return true;
        }
        if (later) {
            core_->wait_for_stream(s);
            core_->free(memory, s);
        }
        came_back(bytes);
        return false;
    }

    // Called after an attempt that failed. False: no memory is in use, so `news` will get no item.
    bool expects_news() {
        if (harvest()) tell();
        const std::scoped_lock held(lock_);
        subscribe();
        return used_ != 0;
    }

    [[noreturn]] void refuse(std::size_t bytes) const {
        throw error(cudaErrorMemoryAllocation, from_ == nullptr ? "cudaMallocFromPoolAsync" : "allocate", {},
                    "there is no memory for " + std::to_string(bytes) +
                        " bytes, and nothing is in use here that could come back");
    }

    // A coroutine that waits for memory. While a waiter exists, try_take() returns null to later callers.
    class waiter {
      public:
        explicit waiter(device_account& at) : at_(at) {
            const std::scoped_lock held(at_.lock_);
            ++at_.waiting_;
        }
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        ~waiter() {
            if (has_turn_) at_.pass_turn();
            const std::scoped_lock held(at_.lock_);
            --at_.waiting_;
        }
        void has_turn() noexcept { has_turn_ = true; }

      private:
        device_account& at_;
        bool has_turn_ = false;
    };

  private:
    // Wakes a waiter of the account when the event `behind` is over.
    struct subscription {
        std::shared_ptr<device_account> account;
        std::shared_ptr<pooled_event> behind;
    };

    // Memory that was freed while its stream was captured.
    struct deferred_free {
        std::shared_ptr<device_account> account;
        void* memory;
        std::size_t bytes;
        stream on;
        std::shared_ptr<pooled_event> behind;

        // If the context ends before the capture ends, the memory is leaked.
        void give() const noexcept {
            if (!is_captured(on.get())) account->give(memory, bytes, on, behind);
        }
    };

    // Frees device memory when the capture of its stream has ended. If the record can't be allocated, the
    // device memory is leaked, because the end of the work on the memory is unknown.
    void defer_free(void* memory, std::size_t bytes, const stream& on,
                    const std::shared_ptr<pooled_event>& behind) noexcept {
        try {
            auto kept =
                std::make_shared<deferred_free>(deferred_free{shared_from_this(), memory, bytes, on, behind});
            completion& c = completion::make(core_->box(), nullptr, [](completion& ended) noexcept {
                static_cast<deferred_free*>(ended.kept.get())->give();
            });
            c.returns_event = false;
            c.captured = on.get();
            c.kept = std::move(kept);
            c.promised.emplace();
            if (!core_->box()->put(c)) c.disown();
        } catch (...) {
            return;
        }
    }

    void check_size(std::size_t bytes) const {
        if (max_ == 0 || bytes <= max_) return;
        throw std::invalid_argument("weir: " + std::to_string(bytes) + " bytes are more than '" +
                                    news.name() + "' may have at all, which is " + std::to_string(max_) +
                                    "; raise the limit of the device_pool");
    }

    // Keeps a record of freed memory until its event is over. False: there is no host memory for the record.
    bool keep(cudaStream_t s, freed_memory::piece what) noexcept {
        bool kept = false;
        try {
            const std::scoped_lock held(lock_);
            freed_.add(s, std::move(what));
            kept = true;
            if (waiting_ != 0) subscribe();
        } catch (...) {
            if (kept) tell();  // the waiter tries again, and gets the error of its own subscribe()
        }
        return kept;
    }

    // Counts the bytes as in use. False: they would exceed the limit.
    bool reserve(std::size_t bytes) {
        harvest();
        const std::scoped_lock held(lock_);
        if (max_ != 0 && bytes > max_ - (std::min)(used_, max_)) return false;
        used_ += bytes;
        return true;
    }
    // Counts the bytes as free, and wakes a waiter.
    void came_back(std::size_t bytes) noexcept {
        bool waits = false;
        {
            const std::scoped_lock held(lock_);
            used_ -= bytes;
            waits = waiting_ != 0;
        }
        if (waits) tell();
    }

    void* allocate(std::size_t bytes, cudaStream_t s) {
        if (core_->on_host()) return ::operator new(bytes, alignment);
        core_->check_not_captured(s, "cudaMallocFromPoolAsync");
        if (from_ != nullptr) return from_->allocate(bytes, s);
        void* memory = nullptr;
        const cudaError_t code = core_->allocate(memory, bytes, s);
        if (code == cudaErrorMemoryAllocation) {
            without_last_error(code);
            return nullptr;
        }
        core_->check_call(code, "cudaMallocFromPoolAsync");
        return memory;
    }

    // Removes the records of memory whose event is over; returns whether there were any. If the device has no
    // memory pools, the memory is freed by cudaFree here: not under the lock, as cudaFree may block.
    bool harvest() {
        std::vector<void*> idle;
        std::size_t bytes = 0;
        bool found = false;
        {
            const std::scoped_lock held(lock_);
            if (!core_->frees_in_order()) idle.reserve(freed_.size());
            found = freed_.take_over(bytes, idle);
            used_ -= bytes;
        }
        for (void* const memory : idle) core_->free(memory, nullptr);
        return found;
    }

    // Called under the lock, while a coroutine waits: the context's reactor will call tell() when the first
    // freed piece of each stream is free.
    void subscribe() {
        freed_.each_first_unsubscribed([this](cudaStream_t on, const std::shared_ptr<pooled_event>& behind) {
            auto kept = std::make_shared<subscription>(subscription{shared_from_this(), behind});
            ticket t(*core_, kept->behind->get(), [](completion& c) noexcept {
                static_cast<subscription*>(c.kept.get())->account->tell();
            });
            completion& c = t.get();
            c.kept = std::move(kept);
            c.promised.emplace();
            t.submit_recorded(on);
        });
    }

    // Wakes the waiter whose turn it is, which tries again.
    void tell() noexcept { static_cast<void>(news.try_put(0)); }
    void pass_turn() noexcept { static_cast<void>(turn.try_put(0)); }

    own_clock clock_;

  public:
    channel<char> turn;  // has one item: the waiter that takes it is served next
    channel<char> news;  // has an item if memory may have become free

  private:
    const std::shared_ptr<core> core_;
    device_allocator* const from_;
    const std::size_t max_;
    std::mutex lock_;  // guards the members below
    std::size_t used_ = 0;
    std::size_t waiting_ = 0;
    freed_memory freed_;
};

}  // namespace weir::cuda::detail

#endif
