// weir floor 12: memory on a GPU with what was copied there, which is freed when its consumer is done
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_BUFFER_HPP
#define WEIR_CUDA_DEVICE_BUFFER_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/event.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::shared_ptr
#include <new>      // for std::align_val_t
#include <utility>  // for std::exchange, std::move

namespace weir::cuda {

namespace detail {

// Without its type.
class device_memory {
    static constexpr std::align_val_t alignment{256};

  public:
    device_memory(const stream& s, std::size_t bytes, std::shared_ptr<transfer_log> log)
        : stream_(s.shared()), bytes_(bytes), log_(std::move(log)) {
        const std::size_t room = bytes == 0 ? 1 : bytes;
        if (stream_->of()->on_host()) {
            data_ = ::operator new(room, alignment);
        } else {
            stream_->of()->check(stream_->of()->allocate(data_, room, s.get()), "cudaMallocFromPoolAsync");
        }
    }
    device_memory(device_memory&& other) noexcept
        : stream_(std::move(other.stream_)), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_),
          log_(std::move(other.log_)), times_(std::move(other.times_)) {}
    device_memory& operator=(device_memory&& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(log_, other.log_);
        std::swap(times_, other.times_);
        return *this;
    }
    ~device_memory() {
        if (data_ == nullptr) return;
        if (stream_->of()->on_host()) {
            ::operator delete(data_, alignment);
            return;
        }
        if (times_ && times_->start) tell_idle();
        stream_->of()->free(data_, stream_->get());
    }

    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    bool on_device() const noexcept { return !stream_->of()->on_host(); }

    // Queues the copy, with its times around it. If it throws, nothing is under way that uses the block.
    void fill_from(lease& from, const stream& s) {
        const std::shared_ptr<core>& of = stream_->of();
        auto times = std::make_shared<copy_times>();
        times->bytes = bytes_;
        times->begin = std::make_shared<pooled_event>(of, true);
        times->end = std::make_shared<pooled_event>(of, true);
        of->check(cudaEventRecord(times->begin->get(), s.get()), "cudaEventRecord");
        of->check(cudaMemcpyAsync(data_, from.bytes().data(), bytes_, cudaMemcpyHostToDevice, s.get()),
                  "cudaMemcpyAsync");
        const cudaError_t code = cudaEventRecord(times->end->get(), s.get());
        if (code != cudaSuccess) {
            of->settle(s.get());
            of->fail(code, "cudaEventRecord");
        }
        from.return_after(s);
        log_->add(times);
        times_ = std::move(times);
    }

    shared_event end() const noexcept { return times_ ? times_->end : nullptr; }

    void hand_over(const stream& to) {
        core& of = *stream_->of();
        if (of.on_host()) return;
        of.check_not_captured(to.get(), "cudaStreamWaitEvent");
        if (!times_) {
            stream_ = to.shared();
            return;
        }
        if (times_->start && stream_ != to.shared()) {
            // Behind what the consumer before this one has queued.
            const pooled_event handed(stream_->of(), false);
            of.check(cudaEventRecord(handed.get(), stream_->get()), "cudaEventRecord");
            of.check(cudaStreamWaitEvent(to.get(), handed.get(), 0), "cudaStreamWaitEvent");
        }
        of.check(cudaStreamWaitEvent(to.get(), times_->end->get(), 0), "cudaStreamWaitEvent");
        stream_ = to.shared();
        auto start = std::make_shared<pooled_event>(stream_->of(), true);
        of.check(cudaEventRecord(start->get(), to.get()), "cudaEventRecord");
        log_->taken_over(*times_, to.get(), std::move(start));
    }

    const std::shared_ptr<core>& of() const noexcept { return stream_->of(); }

  private:
    void tell_idle() noexcept {
        try {
            auto idle = std::make_shared<pooled_event>(stream_->of(), true);
            if (quietly(cudaEventRecord(idle->get(), stream_->get())) == cudaSuccess) {
                log_->done_with(stream_->get(), std::move(idle));
            }
        } catch (...) {
            return;  // only a figure is less exact
        }
    }

    std::shared_ptr<stream_handle> stream_;  // behind whose work it is freed
    void* data_ = nullptr;
    std::size_t bytes_;
    std::shared_ptr<transfer_log> log_;
    std::shared_ptr<copy_times> times_;  // of the copy that fills it
};

}  // namespace detail

/// Memory on a GPU with a batch in it, or on its way there: what `to_device` gives.
///
///     batch.hand_over(training);                   // on the device: what follows waits for the copy
///     train<<<grid, block, 0, training.get()>>>(batch.data(), batch.size());
///     }                                            // freed when that is done
///
/// Lifetime: it is freed in the order of the stream that it was handed over to, behind all that was queued
///           there before this object went. So no copy ever lands in memory that a kernel of that stream
///           still reads. Of a stream that it was not handed over to, nothing is known here: whoever uses it
///           on one keeps this object until that work is done. Without `hand_over` it is freed behind the
///           copy. May outlive everything that it came from, but not a stream that was borrowed.
/// Threads:  as a `std::vector`.
template <class T>
class device_buffer {
  public:
    /// For who copies into it: `to_device`.
    explicit device_buffer(detail::device_memory memory) noexcept : memory_(std::move(memory)) {}

    /// \returns where it lies: on the device, or, in a context without one, on the host.
    [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }  ///< in elements
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }        ///< in bytes
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }  ///< or on the host

    /// What is queued on `consumer` from now on waits for the copy, on the device, and the memory is freed
    /// behind it. The host waits for nothing. A second consumer's work waits for what the first one has
    /// queued, too: the first one is to queue nothing more that uses the batch.
    /// Errors: `weir::cuda::error`.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: the copy is done.
    /// Suspends: always, but on the host. Resumes: on the coroutine's executor. Errors: as of `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const {
        return detail::until_over(memory_.of(), memory_.end());
    }

  private:
    detail::device_memory memory_;
};

}  // namespace weir::cuda

#endif
