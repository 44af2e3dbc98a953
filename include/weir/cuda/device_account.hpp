// weir cuda, internal: how much of a device's memory is in use, who waits for some, and when it comes back
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ACCOUNT_HPP
#define WEIR_CUDA_DEVICE_ACCOUNT_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/completion.hpp>
#include <weir/cuda/core.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/event.hpp>
#include <weir/cuda/freed_memory.hpp>
#include <weir/cuda/own_clock.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/ticket.hpp>
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

// What has been allocated and isn't free again, which is when the stream has come there behind whose work it
// was freed. Who finds too little waits: for its turn, and then for news.
class device_account : public std::enable_shared_from_this<device_account> {
    static constexpr std::align_val_t alignment{256};

  public:
    // `from`: null: the runtime. `max_bytes`: 0: as much as there is.
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

    // Null: there is none at the moment, or somebody waits, who goes first.
    void* try_take(std::size_t bytes, cudaStream_t s) {
        check_size(bytes);
        {
            const std::scoped_lock held(lock_);
            if (waiting_ != 0) return nullptr;
        }
        return attempt(bytes, s);
    }

    // Null: there is none at the moment.
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

    // Queues that it is freed, where the runtime can, and `behind` after that. False: that wasn't possible,
    // and it counts as free; or the stream is captured, and that is queued when it isn't any more.
    bool give(void* memory, std::size_t bytes, const stream& on,
              const std::shared_ptr<pooled_event>& behind) noexcept {
        if (core_->on_host()) {
            ::operator delete(memory, alignment);
            came_back(bytes);
            return false;
        }
        cudaStream_t const s = on.get();
        if (is_captured(s)) {
            put_off(memory, bytes, on, behind);
            return false;
        }
        const bool later = from_ == nullptr && !core_->frees_in_order();
        if (from_ != nullptr) {
            from_->free(memory, (std::max<std::size_t>)(bytes, 1), s);
        } else if (!later) {
            core_->free(memory, s);
        }
        if (quietly(cudaEventRecord(behind->get(), s)) == cudaSuccess &&
            keep(s, {behind, bytes, later ? memory : nullptr})) {
            return true;
        }
        if (later) {
            core_->wait_out(s);
            core_->free(memory, s);
        }
        came_back(bytes);
        return false;
    }

    // After an attempt that failed. False: nothing is in use, so no news will come.
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

    // As long as it exists, nobody else is served who comes later.
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
    // Kept until that end.
    struct subscription {
        std::shared_ptr<device_account> account;
        std::shared_ptr<pooled_event> behind;
    };

    // What was given while its stream was captured.
    struct put_off_until_then {
        std::shared_ptr<device_account> account;
        void* memory;
        std::size_t bytes;
        stream on;
        std::shared_ptr<pooled_event> behind;

        // Once the context ends, nobody will tell of the end of a capture: that memory is lost.
        void give() const noexcept {
            if (!is_captured(on.get())) account->give(memory, bytes, on, behind);
        }
    };

    // Where that can't be noted, the memory is lost: nothing is known of the end of the work on it.
    void put_off(void* memory, std::size_t bytes, const stream& on,
                 const std::shared_ptr<pooled_event>& behind) noexcept {
        try {
            auto kept = std::make_shared<put_off_until_then>(
                put_off_until_then{shared_from_this(), memory, bytes, on, behind});
            completion& c = completion::make(core_->box(), nullptr, [](completion& ended) noexcept {
                static_cast<put_off_until_then*>(ended.kept.get())->give();
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

    // False: there is no memory to remember it.
    bool keep(cudaStream_t s, freed_memory::piece what) noexcept {
        bool kept = false;
        try {
            const std::scoped_lock held(lock_);
            freed_.add(s, std::move(what));
            kept = true;
            if (waiting_ != 0) subscribe();
        } catch (...) {
            if (kept) tell();  // who waits tries again, and gets to hear why nobody tells of it
        }
        return kept;
    }

    bool reserve(std::size_t bytes) {
        harvest();
        const std::scoped_lock held(lock_);
        if (max_ != 0 && bytes > max_ - (std::min)(used_, max_)) return false;
        used_ += bytes;
        return true;
    }
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
            quietly(code);
            return nullptr;
        }
        core_->check_call(code, "cudaMallocFromPoolAsync");
        return memory;
    }

    // Takes out what is free again: true if there is some. Where that it is freed couldn't be queued, it is
    // freed here, under no lock, as that may block.
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

    // Under the lock, while somebody waits: the context tells when the first one of each stream is free.
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

    void tell() noexcept { static_cast<void>(news.try_put(0)); }
    void pass_turn() noexcept { static_cast<void>(turn.try_put(0)); }

    own_clock clock_;

  public:
    channel<char> turn;  // one item; who has it is the next to be served
    channel<char> news;  // something may have come back

  private:
    const std::shared_ptr<core> core_;
    device_allocator* const from_;
    const std::size_t max_;
    std::mutex lock_;  // guards what follows
    std::size_t used_ = 0;
    std::size_t waiting_ = 0;
    freed_memory freed_;
};

}  // namespace weir::cuda::detail

#endif
