// weir cuda, internal: the device memory of a pool: its limit, the waits for freed memory, and its pieces
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_MEMORY_HPP
#define WEIR_CUDA_DEVICE_MEMORY_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::byte, std::size_t
#include <memory>     // for std::enable_shared_from_this, std::make_shared, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <new>        // for std::align_val_t
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move

namespace weir::cuda::detail {

// Shared by a `device_pool` and all pieces of its memory (`device_memory`). Counts memory as in use from its
// allocation until its stream has passed the point at which the memory was freed. A coroutine that finds too
// little memory waits for the one item of the channel `turn`. The coroutine that has this item then waits for
// items of the channel `news`.
class device_account : public std::enable_shared_from_this<device_account> {
    static constexpr std::align_val_t alignment{256};

  public:
    // `from`: null: memory comes from the runtime. `max_bytes`: 0: no limit.
    device_account(std::shared_ptr<context_state> of, device_allocator* from, std::size_t max_bytes,
                   std::string name)
        : turn(1, clock_, name), news(1, clock_, std::move(name)), state_(std::move(of)), allocator_(from),
          max_bytes_(max_bytes) {
        pass_turn();
    }
    device_account(const device_account&) = delete;
    device_account& operator=(const device_account&) = delete;
    // Waits for the work on memory that is still to be freed, and frees it.
    ~device_account();

    const std::shared_ptr<context_state>& of() const noexcept { return state_; }
    std::size_t max_bytes() const noexcept { return max_bytes_; }

    // Returns how many bytes are in use now.
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
            if (num_waiting_ != 0) return nullptr;
        }
        return attempt(bytes, s);
    }

    // Allocates, even if other coroutines wait. Called by try_take(), and by the coroutine whose turn it is.
    // Returns null if too little memory is free now.
    void* attempt(std::size_t bytes, cudaStream_t s);

    // Frees the memory behind the work of the stream, and records the event `behind` after that work. Returns
    // true if the memory counts as in use until `behind` is over. Returns false in two cases. The memory
    // counts as free already: in a context without a device, or after an error. Or the stream is captured:
    // then the memory counts as in use, and is freed after the capture.
    bool give(void* memory, std::size_t bytes, const stream& on,
              const std::shared_ptr<pooled_event>& behind) noexcept;

    // Called after an attempt that failed. Returns true if `news` gets an item when memory becomes free;
    // false if no memory is in use any more.
    bool expects_news();

    // Throws `weir::cuda::error`: too little memory is free, and none in use could come back.
    [[noreturn]] void refuse(std::size_t bytes) const;

    // A coroutine that waits for memory. While a waiter exists, try_take() returns null to later callers.
    class waiter {
      public:
        explicit waiter(device_account& at) : at_(at) {
            const std::scoped_lock held(at_.lock_);
            ++at_.num_waiting_;
        }
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        ~waiter() {
            if (has_turn_) at_.pass_turn();
            const std::scoped_lock held(at_.lock_);
            --at_.num_waiting_;
        }
        // Called when the coroutine has taken the item of `turn`: the destructor passes the turn on.
        void has_turn() noexcept { has_turn_ = true; }

      private:
        device_account& at_;
        bool has_turn_ = false;
    };

  private:
    // What the context keeps, to wake a waiter of the account when the event `behind` is over.
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

        // Frees the memory. Called when the capture has ended, or the context ends; if the capture still
        // goes on, the memory is leaked.
        void give() const noexcept {
            if (!is_captured(on.get())) account->give(memory, bytes, on, behind);
        }
    };

    // Frees device memory when the capture of its stream has ended. The memory is leaked if a `deferred_free`
    // can't be allocated, or if the context is gone: nothing tells when the work on the memory ends.
    void defer_free(void* memory, std::size_t bytes, const stream& on,
                    const std::shared_ptr<pooled_event>& behind) noexcept;

    // Throws `std::invalid_argument` for more bytes than `max_bytes`.
    void check_size(std::size_t bytes) const;

    // Keeps a record of freed memory until its event is over. Returns false if there is no host memory for
    // the record.
    bool keep(cudaStream_t s, freed_memory::piece what) noexcept;

    // Counts the bytes as in use. Returns false, and counts nothing, if the bytes would exceed the limit.
    bool reserve(std::size_t bytes) {
        harvest();
        const std::scoped_lock held(lock_);
        if (max_bytes_ != 0 && bytes > max_bytes_ - (std::min)(used_, max_bytes_)) return false;
        used_ += bytes;
        return true;
    }
    // Counts the bytes as free, and wakes a waiter.
    void came_back(std::size_t bytes) noexcept {
        bool waits = false;
        {
            const std::scoped_lock held(lock_);
            used_ -= bytes;
            waits = num_waiting_ != 0;
        }
        if (waits) tell();
    }

    // Allocates from the allocator or the runtime. Returns null if too little is free.
    void* allocate(std::size_t bytes, cudaStream_t s);

    // Counts freed memory whose event is over as free, and removes its record. Returns whether there was any.
    // Memory that comes from the runtime of a device without memory pools is freed by cudaFree here: not
    // under the lock, as cudaFree may block.
    bool harvest();

    // Makes the thread that polls the device call tell() when the first freed piece of each stream is free.
    // Called under the lock, while a coroutine waits.
    void subscribe();

    // Wakes the waiter whose turn it is. The waiter then tries again to take memory.
    void tell() noexcept { static_cast<void>(news.try_put(0)); }
    // Lets the next waiter have the turn.
    void pass_turn() noexcept { static_cast<void>(turn.try_put(0)); }

    clock_executor clock_;  // of the channels below

  public:
    channel<char> turn;  // has one item: the waiter that takes it is served next
    channel<char> news;  // has an item if memory may have become free

  private:
    const std::shared_ptr<context_state> state_;
    device_allocator* const allocator_;  // null: the runtime
    const std::size_t max_bytes_;
    std::mutex lock_;              // guards the members below
    std::size_t used_ = 0;         // bytes in use
    std::size_t num_waiting_ = 0;  // coroutines that wait for memory
    freed_memory freed_;           // that queued work may still use
};

// Device memory without an element type. Belongs to a stream: first to that of its allocation, then to that
// of the last hand_over().
class device_memory {
  public:
    // Returns none if too little memory is free now, or if a coroutine waits for memory. `log`: records the
    // times of the copy to the device, and when the stream that uses the memory could begin; null: no
    // measurement.
    static std::optional<device_memory> try_take(const std::shared_ptr<device_account>& from, const stream& s,
                                                 std::size_t bytes, std::shared_ptr<transfer_log> log) {
        device_memory there(from, s, bytes, std::move(log));
        there.data_ = from->try_take(bytes, s.get());
        if (there.data_ == nullptr) return std::nullopt;
        return there;
    }

    // Waits while too little memory is free. Returns none if `stop` was requested before memory was free.
    static task<std::optional<device_memory>> take(std::shared_ptr<device_account> from, stream s,
                                                   std::size_t bytes, std::shared_ptr<transfer_log> log,
                                                   stop_token stop);

    device_memory(device_memory&& other) noexcept
        : account_(std::move(other.account_)), stream_(std::move(other.stream_)),
          data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
          behind_(std::move(other.behind_)), copied_(std::move(other.copied_)),
          was_handed_over_(other.was_handed_over_), log_(std::move(other.log_)),
          times_(std::move(other.times_)) {}
    device_memory& operator=(device_memory&& other) noexcept;
    ~device_memory();

    // After a move the memory is null, its size 0, and on_device() false.
    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    bool on_device() const noexcept { return data_ != nullptr && !of()->on_host(); }
    // Throws `std::invalid_argument` after a move.
    void check_present() const;
    const std::shared_ptr<context_state>& of() const noexcept { return account_->of(); }

    // Queues the copy from a block (page-locked memory) of the same size, an event behind the copy, and, with
    // a log, an event before it. If fill_from() throws, no pending work uses a block that `from` still owns.
    void fill_from(lease& from);

    // Queues a copy to page-locked memory, on the stream of the device memory. `log`: of the copy; null: no
    // measurement. If queue_copy_to() throws, the copy may be pending.
    void queue_copy_to(std::byte* to, transfer_log* log) const;

    // The event recorded behind the copy to the device; null: there was no copy, or there is no device.
    const shared_event& copied() const noexcept { return copied_; }

    // Waits for the copy to the device; if there was no copy, for all work queued on the memory's stream.
    // Errors: also that of check_present().
    awaited_work<recorded_work> filled() const;

    // Makes later work of `to` wait for all work queued on the memory's stream. At the first hand-over of
    // memory that a copy has filled, `to` waits only for the copy. From then on the memory belongs to `to`.
    // Does nothing without a device. Errors: also that of check_present().
    void hand_over(const stream& to);

  private:
    device_memory(const std::shared_ptr<device_account>& from, const stream& s, std::size_t bytes,
                  std::shared_ptr<transfer_log> log)
        : account_(from), stream_(s), bytes_(bytes),
          behind_(std::make_shared<pooled_event>(from->of(), log != nullptr)), log_(std::move(log)) {}

    // Records the beginning of a copy that will end at `end`.
    std::shared_ptr<copy_times> begin_copy(shared_event end) const;
    // If end_copy() throws, no copy is pending.
    void end_copy(const pooled_event& end) const {
        const cudaError_t code = cudaEventRecord(end.get(), stream_.get());
        if (code == cudaSuccess) return;
        of()->wait_for_stream(stream_.get());
        of()->fail(code, "cudaEventRecord");
    }

    // Records the event behind the work of the stream; makes later work of the stream wait for the event.
    void record(const pooled_event& e, const stream& s) const {
        of()->check_call(cudaEventRecord(e.get(), s.get()), "cudaEventRecord");
    }
    void wait(const stream& s, const pooled_event& e) const {
        of()->check_call(cudaStreamWaitEvent(s.get(), e.get(), 0), "cudaStreamWaitEvent");
    }

    std::shared_ptr<device_account> account_;
    stream stream_;  // the memory is freed behind this stream's work
    void* data_ = nullptr;
    std::size_t bytes_;
    shared_event behind_;           // recorded by the destructor; the memory is free when this event is over
    shared_event copied_;           // see copied()
    bool was_handed_over_ = false;  // hand_over() was called: its stream may have queued work on the memory
    std::shared_ptr<transfer_log> log_;  // of the run's copies; null: no measurement
    std::shared_ptr<copy_times> times_;  // of the copy to the device; null: not measured
};

}  // namespace weir::cuda::detail

#include <weir/cuda/device_memory.ipp>

#endif
