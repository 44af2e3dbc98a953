// weir cuda: a pool of device memory with a limit, for which coroutines wait, and arrays in its memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_POOL_HPP
#define WEIR_CUDA_DEVICE_POOL_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <array>     // for std::array
#include <cstddef>   // for std::size_t
#include <memory>    // for std::make_shared, std::shared_ptr
#include <optional>  // for std::optional
#include <span>      // for std::span
#include <string>    // for std::string
#include <tuple>     // for std::tuple
#include <utility>   // for std::exchange, std::move

namespace weir::cuda {

/// An array in device memory: the result of `to_device`, whose copy may be pending, or of
/// `device_pool::acquire`.
///
///     batch.hand_over(training);                   // later work of the stream waits for the copy
///     train<<<grid, block, 0, training.get()>>>(batch.data(), batch.size());
///     }                                            // freed when the kernel is done
///
/// Lifetime: the memory is freed in the order of the stream that it was handed over to, behind all work
///           queued there before the destruction. So no copy overwrites memory that a kernel of this stream
///           still reads. For work on another stream, keep this object until that work is done. Without
///           `hand_over` the memory is freed behind the copy, or behind the work of the stream given to
///           `acquire`. If the stream is captured into a graph at the destruction, the memory is freed after
///           the capture; or never, if the context ends first. Keep this object as long as a graph uses its
///           address. May outlive its context and pool. A stream that the user owns has to outlive this
///           object, and a capture that is not over at the destruction.
/// Threads:  as a `std::vector`.
template <class T>
class device_buffer {
  public:
    /// To be called by `to_device` and `device_pool` only.
    explicit device_buffer(detail::device_memory memory) noexcept : memory_(std::move(memory)) {}

    /// \returns the address of the first element: on the device, or, in a context without a device, on the
    ///          host. Null if the buffer was moved away: then `size()` is 0.
    [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }  ///< in elements
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }        ///< in bytes
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }  ///< false: on the host

    /// Makes work that is queued on `consumer` from now on wait for the copy, on the device; the memory is
    /// freed behind that work. The host doesn't wait. After a second call, work of the second consumer also
    /// waits for the work that the first consumer has queued; the first consumer must not queue more work
    /// that uses the batch. Memory of `device_pool::acquire` has no copy: `consumer` waits for the work of
    /// its previous stream.
    /// Errors: `weir::cuda::error`; `std::invalid_argument` for a stream of another GPU, and if the buffer
    ///         was moved away.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: waits until the copy is done; for memory of `device_pool::acquire`,
    ///           until all work queued on its stream is done.
    /// Suspends: during this wait; never without a device. Resumes: on the coroutine's executor. Errors:
    ///           those of `event::done`; for memory of `acquire` those of `stream::done`;
    ///           `std::invalid_argument` if the buffer was moved away.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns the memory. For other headers of weir only.
    [[nodiscard]] detail::device_memory release() && noexcept { return std::move(memory_); }

  private:
    detail::device_memory memory_;
};

/// Several arrays in one piece of device memory, filled by one copy, which may be pending. The stage
/// `to_device` makes such an object from the members of an item that its argument `parts(...)` names. It is
/// the member `data` of the stage's result, a `device_batch`: `b` in this example.
///
///     b.data.hand_over(training);
///     auto [pixels, labels] = b.data.parts();  // spans of device memory
///     train<<<grid, block, 0, training.get()>>>(pixels.data(), labels.data(), labels.size());
///
/// Lifetime: that of a `device_buffer`, for all parts together.
/// Threads:  as a `std::vector`.
/// Cost:     one piece of memory and one copy for all parts.
template <class... Ts>
class device_buffers {
  public:
    /// To be called by `to_device` only.
    /// \param sizes  of each part, in elements.
    device_buffers(detail::device_memory memory, const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept
        : memory_(std::move(memory)), sizes_(sizes) {}
    device_buffers(device_buffers&& other) noexcept
        : memory_(std::move(other.memory_)), sizes_(std::exchange(other.sizes_, {})) {}
    device_buffers& operator=(device_buffers&& other) noexcept {
        memory_ = std::move(other.memory_);  // swaps
        sizes_.swap(other.sizes_);
        return *this;
    }
    ~device_buffers() = default;

    /// \returns the parts, in the order of `Ts`; each begins at a multiple of 256 bytes. Empty spans if the
    ///          buffers were moved away.
    /// Lifetime: that of this object. The host must not access the elements, unless `on_device` is false.
    [[nodiscard]] std::tuple<std::span<Ts>...> parts() const noexcept {
        if (memory_.data() == nullptr) return {};
        return detail::spans_of<Ts...>(memory_.data(), sizes_);
    }
    /// \returns the number of elements of each part. Lifetime: that of this object.
    [[nodiscard]] const std::array<std::size_t, sizeof...(Ts)>& sizes() const noexcept { return sizes_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }  ///< of all parts
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }      ///< false: on the host

    /// The same as `device_buffer::hand_over`, for all parts together. Errors: those of
    /// `device_buffer::hand_over`.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: waits until the copy is done.
    /// Suspends: during this wait; never without a device. Resumes: on the coroutine's executor. Errors:
    ///           those of `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns the memory. For other headers of weir only.
    [[nodiscard]] detail::device_memory release() && noexcept { return std::move(memory_); }

  private:
    detail::device_memory memory_;
    std::array<std::size_t, sizeof...(Ts)> sizes_;
};

/// A pool of device memory, in pieces of any size. A coroutine that finds too little waits until memory is
/// freed. So a stage can't get far ahead of the code that uses its results, and waits, too, while the device
/// has no more memory.
///
///     weir::cuda::device_pool memory(gpu, std::size_t{4} << 30);          // 4 GiB, for both stages
///     auto loader = batches | weir::cuda::to_device(gpu, pool, {.memory = &memory})
///                 | weir::pipe([&](device_buffer<float> in) -> weir::task<device_buffer<float>> {
///                       in.hand_over(work);
///                       auto out = co_await memory.acquire<float>(in.size(), work);
///                       infer<<<grid, block, 0, work.get()>>>(in.data(), out.data(), in.size());
///                       co_return std::move(out);
///                   }) | weir::cuda::to_host(gpu, results) | weir::sink();
///
/// Memory is in use from `acquire` until its stream has done the work queued before the buffer was destroyed.
/// A coroutine that keeps all memory and waits for more waits for ever; a `watchdog` reports this.
///
/// Lifetime: outlives the runs that use it. May be destroyed before its buffers. The executors of runs may be
///           destroyed before the pool.
/// Threads:  any.
/// Cost:     an event for each piece, and one or two queries of events per allocation.
class device_pool {
  public:
    /// A pool of memory that the context allocates.
    /// \param max_bytes  how much may be in use at a time; 0: no limit but that of the device.
    /// \param name       for errors, and for a `watchdog`.
    explicit device_pool(context& gpu, std::size_t max_bytes = 0, std::string name = "device memory")
        : shared_(
              std::make_shared<detail::device_account>(gpu.shared(), nullptr, max_bytes, std::move(name))) {}

    /// A pool of memory from an allocator. In a context without a device, ordinary memory is used instead.
    /// \param from       outlives all memory allocated by it.
    /// \param max_bytes  as in the other constructor.
    device_pool(context& gpu, device_allocator& from, std::size_t max_bytes = 0,
                std::string name = "device memory")
        : shared_(std::make_shared<detail::device_account>(gpu.shared(), &from, max_bytes, std::move(name))) {
    }

    /// \param n  in elements.
    /// \param s  the stream whose work uses the memory first, and behind whose work it is freed: see
    ///           `device_buffer`.
    /// \returns  awaitable of a `device_buffer`, whose elements are not initialized.
    /// Suspends: while too little memory is free. Resumes: on the coroutine's executor.
    /// Order:    first come, first served.
    /// Errors:   `std::invalid_argument` for more than `max_bytes`; `weir::cuda::error`, also if too little
    ///           memory is free although nothing of this pool is in use; `std::bad_alloc` without a device;
    ///           those of a wait of `channel`, such as `stopped` in a stage that is stopped.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<device_buffer<T>> acquire(std::size_t n,
                                                                                     const stream& s) {
        return get<T>(shared_, detail::bytes_of<T>(n), s);
    }
    /// The same as `acquire` above, but a stop request for `stop` ends the wait.
    /// \returns awaitable of an optional: none after a stop.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<device_buffer<T>>> acquire(
        std::size_t n, const stream& s, stop_token stop) {
        return get_unless<T>(shared_, detail::bytes_of<T>(n), s, std::move(stop));
    }

    [[nodiscard]] std::size_t max_bytes() const noexcept { return shared_->max_bytes(); }  ///< 0: no limit
    /// \returns how many bytes are in use now, including bytes that pending work still uses. Errors:
    /// `std::bad_alloc`.
    [[nodiscard]] std::size_t bytes_in_use() const { return shared_->used(); }

    /// \returns the state that all buffers of the pool share. For other headers of weir only.
    [[nodiscard]] const std::shared_ptr<detail::device_account>& shared() const noexcept { return shared_; }

  private:
    using account_ptr = std::shared_ptr<detail::device_account>;

    template <class T>
    static task<device_buffer<T>> get(account_ptr from, std::size_t bytes, stream s) {
        std::optional<detail::device_memory> got = detail::device_memory::try_take(from, s, bytes, nullptr);
        if (!got) got = co_await detail::device_memory::take(from, s, bytes, nullptr, stop_token());
        co_return device_buffer<T>(*std::move(got));
    }
    template <class T>
    static task<std::optional<device_buffer<T>>> get_unless(account_ptr from, std::size_t bytes, stream s,
                                                            stop_token stop) {
        std::optional<detail::device_memory> got = detail::device_memory::try_take(from, s, bytes, nullptr);
        if (!got) got = co_await detail::device_memory::take(from, s, bytes, nullptr, std::move(stop));
        if (!got) co_return std::nullopt;
        co_return device_buffer<T>(*std::move(got));
    }

    account_ptr shared_;
};

}  // namespace weir::cuda

#endif
