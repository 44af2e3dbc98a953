// weir cuda: a pool of page-locked memory, for which coroutines wait, and arrays in its blocks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_PINNED_POOL_HPP
#define WEIR_CUDA_PINNED_POOL_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::byte, std::size_t
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::optional
#include <span>         // for std::span
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_trivially_copyable_v
#include <utility>      // for std::move, std::swap

namespace weir::cuda {

/// An array in a page-locked block; a contiguous range. The program collates a batch directly into the array,
/// which saves a copy. The results of `to_host` are such arrays, too.
///
///     weir::cuda::pinned_buffer<float> batch = co_await pool.acquire<float>(n);
///
/// Lifetime: the destructor returns the block to its pool, as that of a `lease`.
/// Threads:  as a `std::vector`.
template <class T>
class [[nodiscard("the block goes back at once")]] pinned_buffer {
    static_assert(std::is_trivially_copyable_v<T>,
                  "weir: a pinned_buffer holds what a device can copy: elements that are trivially copyable");

  public:
    using value_type = T;

    /// \param block  has room for at least `size` elements.
    /// \param size   in elements. Their values are the bytes of the block: nothing is initialized.
    pinned_buffer(lease block, std::size_t size) noexcept : block_(std::move(block)), size_(size) {}
    pinned_buffer(pinned_buffer&&) noexcept = default;
    pinned_buffer& operator=(pinned_buffer&& other) noexcept {
        static_cast<void>(block_ = std::move(other.block_));  // swaps: so each size stays with its block
        std::swap(size_, other.size_);
        return *this;
    }
    ~pinned_buffer() = default;

    /// The address of the first element; null after `release`.
    [[nodiscard]] T* data() const noexcept {
        return static_cast<T*>(static_cast<void*>(block_.bytes().data()));
    }
    /// In elements; 0 after `release`.
    [[nodiscard]] std::size_t size() const noexcept { return block_.bytes().empty() ? 0 : size_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }  ///< as a `std::vector`
    [[nodiscard]] T* begin() const noexcept { return data(); }
    [[nodiscard]] T* end() const noexcept { return data() + size(); }
    /// As in a `std::vector`.
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data()[i]; }

    /// Keeps the first elements: the `lease` of `release` has only their bytes.
    /// \param size  in elements; if not below `size()`, all are kept.
    void resize(std::size_t size) noexcept {
        size_ = weir::detail::smaller(size, size_);
        block_.resize(size_ * sizeof(T));
    }

    /// \returns the block, for `lease::copy_to` or another function that takes a `lease`.
    [[nodiscard]] lease release() && noexcept { return std::move(block_); }

  private:
    lease block_;
    std::size_t size_;
};

/// Several arrays in one page-locked block: the result of `to_host` for `device_buffers`, and for
/// `parts(...)`.
///
///     auto [logits, boxes] = result.parts();  // spans
///
/// Lifetime: the destructor returns the block to its pool, as that of a `lease`.
/// Threads:  as a `std::vector`.
/// Cost:     that of a `lease`; up to 255 bytes between two parts.
template <class... Ts>
class [[nodiscard("the block goes back at once")]] pinned_buffers {
  public:
    /// \param block  has the parts in the order of `Ts`, each at a multiple of 256 bytes.
    /// \param sizes  of each part, in elements.
    pinned_buffers(lease block, const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept
        : block_(std::move(block)), sizes_(sizes) {}
    pinned_buffers(pinned_buffers&&) noexcept = default;
    pinned_buffers& operator=(pinned_buffers&& other) noexcept {
        static_cast<void>(block_ = std::move(other.block_));  // swaps
        sizes_.swap(other.sizes_);
        return *this;
    }
    ~pinned_buffers() = default;

    /// \returns the parts, in the order of `Ts`; empty spans after `release`.
    /// Lifetime: that of this object.
    [[nodiscard]] std::tuple<std::span<Ts>...> parts() const noexcept {
        if (block_.bytes().empty()) return {};
        return detail::spans_of<Ts...>(block_.bytes().data(), sizes_);
    }

    /// \returns the block, for a function that takes a `lease`.
    [[nodiscard]] lease release() && noexcept { return std::move(block_); }

  private:
    lease block_;
    std::array<std::size_t, sizeof...(Ts)> sizes_;
};

/// A pool of page-locked memory, from and to which a device copies by itself, in blocks of one size. A
/// coroutine that finds no free block waits: so a stage can't get far ahead of the device.
///
/// Lifetime: may be destroyed before its leases. May outlive its context, and the executors of coroutines
///           that waited for it.
/// Threads:  any.
/// Devices:  one pool serves the streams of all GPUs. If the device of its context breaks, `acquire` fails.
/// Cost:     locking pages is slow (some 0.3 ms a MiB): once, in the constructor.
class pinned_pool {
  public:
    /// \param block_bytes  the size of each block, at least 1.
    /// \param blocks       the number of blocks, at least 1: for batches that are being filled or copied.
    /// \param name         for statistics and deadlock reports.
    /// Errors: `weir::cuda::error` if the memory can't be allocated; `std::invalid_argument` if a number is
    /// 0.
    pinned_pool(context& gpu, std::size_t block_bytes, std::size_t blocks, std::string name = "pinned")
        : shared_(
              std::make_shared<detail::pinned_blocks>(gpu.shared(), block_bytes, blocks, std::move(name))) {}

    /// \param bytes  the size of the lease, up to `block_bytes()`.
    /// \returns  awaitable of a `lease`.
    /// Suspends: while no block is free. Resumes: on the coroutine's executor.
    /// Order:    first come, first served.
    /// Errors:   `std::invalid_argument` for more than a block; `weir::cuda::error` if the device is broken;
    ///           those of a wait of `channel`, such as `stopped` in a stage that is stopped.
    [[nodiscard("co_await this, or nothing is got")]] task<lease> acquire(std::size_t bytes) {
        return get<lease>(shared_, checked(bytes));
    }
    /// The same as `acquire` above, but of room for `n` elements, into which a batch can be collated.
    /// \returns awaitable of a `pinned_buffer<T>`.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<pinned_buffer<T>> acquire(std::size_t n) {
        return get<pinned_buffer<T>>(shared_, checked(detail::bytes_of<T>(n)), n);
    }
    /// The same as `acquire` of `n` elements, but a stop request for `stop` ends the wait.
    /// \returns awaitable of an optional `pinned_buffer<T>`: none after a stop.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<pinned_buffer<T>>> acquire(
        std::size_t n, stop_token stop) {
        return get_unless<pinned_buffer<T>>(std::move(stop), shared_, checked(detail::bytes_of<T>(n)), n);
    }
    /// The same as `acquire` of bytes, but a stop request for `stop` ends the wait.
    /// \returns awaitable of an optional lease: none after a stop.
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<lease>> acquire(std::size_t bytes,
                                                                                         stop_token stop) {
        return get_unless<lease>(std::move(stop), shared_, checked(bytes));
    }

    /// Acquires without waiting. \returns none if no block is free. Errors: those of `acquire`, except those
    /// of a wait.
    [[nodiscard]] std::optional<lease> try_acquire(std::size_t bytes) {
        checked(bytes);
        shared_->of()->check_device();
        auto block = shared_->free.try_get();
        if (!block) return std::nullopt;
        return lease(shared_, *block, bytes);
    }
    /// The same as `try_acquire` above, for `n` elements.
    template <class T>
    [[nodiscard]] std::optional<pinned_buffer<T>> try_acquire(std::size_t n) {
        std::optional<lease> block = try_acquire(detail::bytes_of<T>(n));
        if (!block) return std::nullopt;
        return pinned_buffer<T>(*std::move(block), n);
    }

    /// In bytes, as constructed.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return shared_->block_bytes; }
    [[nodiscard]] std::size_t blocks() const noexcept { return shared_->count; }  ///< as constructed

    /// \returns false if the blocks are ordinary memory, as those of a context without a device.
    [[nodiscard]] bool page_locked() const noexcept { return shared_->is_page_locked(); }

    /// \returns the statistics of the queue of free blocks since the pool was made: `size` blocks are free,
    ///          `num_get` were acquired, and `get_wait` is the time that coroutines waited for a block.
    ///          Errors: `std::bad_alloc`.
    [[nodiscard]] channel_stats stats() const { return shared_->free.stats(); }

  private:
    using blocks_ptr = std::shared_ptr<detail::pinned_blocks>;

    // Get a block for a `Buffer`, which is made from a lease and `size`.
    template <class Buffer, class... Size>
    static task<Buffer> get(blocks_ptr from, std::size_t bytes, Size... size) {
        from->of()->check_device();
        lease got(from, *co_await from->free.get(), bytes);
        from->of()->check_device();
        co_return Buffer(std::move(got), size...);
    }
    template <class Buffer, class... Size>
    static task<std::optional<Buffer>> get_unless(stop_token stop, blocks_ptr from, std::size_t bytes,
                                                  Size... size) {
        from->of()->check_device();
        const std::optional<std::byte*> block = co_await from->free.get(std::move(stop));
        if (!block) co_return std::nullopt;
        lease got(from, *block, bytes);
        from->of()->check_device();
        co_return Buffer(std::move(got), size...);
    }

    // Returns `bytes`. Throws for more than a block.
    std::size_t checked(std::size_t bytes) const {
        if (bytes <= shared_->block_bytes) return bytes;
        throw std::invalid_argument("weir: " + std::to_string(bytes) + " bytes don't fit into a block of '" +
                                    shared_->free.name() + "', which has " +
                                    std::to_string(shared_->block_bytes) +
                                    "; make the blocks of the pinned_pool larger");
    }

    blocks_ptr shared_;
};

namespace detail {

// Refuses blocks of ordinary memory for a GPU. `use`: the stage, and how the stage uses the blocks, for the
// message.
inline void check_blocks(const pinned_pool& blocks, const context& gpu, const char* use) {
    if (gpu.on_host() || blocks.page_locked()) return;
    throw std::invalid_argument(std::string("weir: ") + use +
                                " into page-locked memory, and this pinned_pool was made from a context "
                                "without a device; make it from one of a GPU");
}

}  // namespace detail

}  // namespace weir::cuda

#endif
