// weir cuda: a pool of device memory with a limit, for which coroutines wait
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_POOL_HPP
#define WEIR_CUDA_DEVICE_POOL_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_account.hpp>
#include <weir/cuda/device_buffer.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for SIZE_MAX
#include <memory>    // for std::make_shared, std::shared_ptr
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move

namespace weir::cuda {

/// A pool of device memory, in pieces of any size. A coroutine that finds too little waits until memory is
/// freed. So a stage can't get far ahead of its consumer, and waits, too, while the device has no more
/// memory.
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
    /// \param max_bytes  as above.
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
    ///           memory is free although nothing of this pool is in use.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<device_buffer<T>> acquire(std::size_t n,
                                                                                     const stream& s) {
        return get<T>(shared_, bytes_of<T>(n), s);
    }
    /// The same, until a stop is requested. \returns awaitable of an optional: none after a stop.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<device_buffer<T>>> acquire(
        std::size_t n, const stream& s, stop_token stop) {
        return get_unless<T>(shared_, bytes_of<T>(n), s, std::move(stop));
    }

    [[nodiscard]] std::size_t max_bytes() const noexcept { return shared_->max_bytes(); }  ///< 0: no limit
    /// \returns how many bytes are in use now, including bytes that pending work still uses. Errors: none.
    [[nodiscard]] std::size_t bytes_in_use() const { return shared_->used(); }

    /// \returns the state that all buffers of the pool share. For other headers of weir only.
    [[nodiscard]] const std::shared_ptr<detail::device_account>& shared() const noexcept { return shared_; }

  private:
    using account_ptr = std::shared_ptr<detail::device_account>;

    template <class T>
    static std::size_t bytes_of(std::size_t n) noexcept {
        return n > SIZE_MAX / sizeof(T) ? SIZE_MAX : n * sizeof(T);
    }

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
