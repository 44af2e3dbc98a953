// weir floor 11: page-locked memory, of which there is so much and no more
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_PINNED_POOL_HPP
#define WEIR_CUDA_PINNED_POOL_HPP

#include <weir/channel.hpp>
#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>
#include <weir/task.hpp>

#include <cstddef>    // for std::byte, std::size_t
#include <cstring>    // for std::memcpy
#include <memory>     // for std::shared_ptr
#include <new>        // for std::align_val_t
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move

namespace weir::cuda {

namespace detail {

// The blocks, as long as somebody has one. They lie in one piece, from page to page.
class pinned_blocks {
    static constexpr std::size_t page = 4096;

  public:
    pinned_blocks(std::shared_ptr<core> of, std::size_t bytes, std::size_t blocks)
        : free(checked(bytes, blocks)), block_bytes(bytes), count(blocks), core_(std::move(of)) {
        const std::size_t stride = (bytes + page - 1) / page * page;
        if (stride < bytes || stride > SIZE_MAX / blocks) throw std::bad_alloc();
        if (core_->on_host()) {
            memory_ = ::operator new(stride * blocks, std::align_val_t(page));
        } else {
            const device_scope here(core_->device_index());
            core_->check(here.status(), "cudaSetDevice");
            core_->check(cudaHostAlloc(&memory_, stride * blocks, cudaHostAllocPortable), "cudaHostAlloc");
        }
        auto* const first = static_cast<std::byte*>(memory_);
        for (std::size_t i = 0; i < blocks; ++i) static_cast<void>(free.try_put(first + i * stride));
    }
    pinned_blocks(const pinned_blocks&) = delete;
    pinned_blocks& operator=(const pinned_blocks&) = delete;
    ~pinned_blocks() {
        if (core_->on_host()) {
            ::operator delete(memory_, std::align_val_t(page));
        } else {
            const beside_captures freeing;
            static_cast<void>(cudaFreeHost(memory_));
        }
    }

    const std::shared_ptr<core>& of() const noexcept { return core_; }
    void put_back(std::byte* block) noexcept { static_cast<void>(free.try_put(std::move(block))); }

    channel<std::byte*> free;
    const std::size_t block_bytes;
    const std::size_t count;

  private:
    static std::size_t checked(std::size_t bytes, std::size_t blocks) {
        if (bytes != 0 && blocks != 0) return blocks;
        throw std::invalid_argument("weir: a pinned_pool of " + std::to_string(blocks) + " blocks of " +
                                    std::to_string(bytes) +
                                    " bytes has nothing to give; it needs at least one");
    }

    std::shared_ptr<core> core_;
    void* memory_ = nullptr;
};

}  // namespace detail

/// A block of page-locked memory on loan.
///
/// Lifetime: goes back to its pool when it is destroyed; or, after `copy_to` or `return_after`, when the
///           device is done with it, and not before. May outlive its pool.
/// Threads:  as a `std::vector`.
/// Cost:     giving it back, a `try_put`; by `copy_to`, as `stream::done`.
class [[nodiscard("the block goes back at once")]] lease {
  public:
    lease(lease&& other) noexcept
        : pool_(std::move(other.pool_)), block_(std::exchange(other.block_, nullptr)), size_(other.size_) {}
    lease& operator=(lease&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(block_, other.block_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~lease() {
        if (block_ != nullptr) pool_->put_back(block_);
    }

    /// \returns the memory, as much as was asked for; nothing once it was given away.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return block_ == nullptr ? std::span<std::byte>() : std::span(block_, size_);
    }

    /// Queues a copy of all of `bytes()` to a device, and gives the block away until that is done.
    /// Errors: `weir::cuda::error`: nothing is under way then. `std::logic_error` if the context is gone.
    void copy_to(const stream& s, void* to) {
        if (pool_->of()->on_host()) {
            std::memcpy(to, block_, size_);
        } else {
            pool_->of()->check(cudaMemcpyAsync(to, block_, size_, cudaMemcpyHostToDevice, s.get()),
                               "cudaMemcpyAsync");
        }
        return_after(s);
    }

    /// Gives the block away until all is done that is queued on the stream.
    /// Errors: as of `copy_to`; all of it is done then.
    void return_after(const stream& s) {
        detail::core& of = *pool_->of();
        if (of.on_host()) {
            pool_->put_back(std::exchange(block_, nullptr));
            return;
        }
        std::optional<detail::ticket> t;
        try {
            t.emplace(of, [](detail::completion& c) noexcept {
                static_cast<detail::pinned_blocks*>(c.kept.get())->put_back(c.block);
            });
        } catch (...) {
            of.settle(s.get());  // what is queued may use the block
            throw;
        }
        detail::completion& c = t->get();
        c.kept = pool_;
        c.block = block_;
        c.promised.emplace();
        t->submit(s.get());
        block_ = nullptr;
    }

  private:
    friend class pinned_pool;
    lease(std::shared_ptr<detail::pinned_blocks> pool, std::byte* block, std::size_t size) noexcept
        : pool_(std::move(pool)), block_(block), size_(size) {}

    std::shared_ptr<detail::pinned_blocks> pool_;
    std::byte* block_;
    std::size_t size_;
};

/// Page-locked memory, from and to which a device copies by itself, in blocks of one size. Who finds none
/// free waits: so a stage that is ahead of the device is held back.
///
/// Lifetime: the executor of the first coroutine that waits for a block outlives the pool and its leases, as
///           for a `channel`.
/// Threads:  any.
/// Cost:     locking pages is slow (some 0.3 ms a MiB): once, in the constructor.
class pinned_pool {
  public:
    /// \param block_bytes  how much each lease can have, at least 1.
    /// \param blocks       how many, at least 1: what is being filled, and what is being copied.
    /// \param name         for the statistics.
    /// Errors: `weir::cuda::error` if the memory can't be had; `std::invalid_argument`.
    pinned_pool(context& gpu, std::size_t block_bytes, std::size_t blocks, std::string name = "pinned")
        : shared_(std::make_shared<detail::pinned_blocks>(gpu.shared(), block_bytes, blocks)),
          name_(std::move(name)) {}

    /// \param bytes  how much is needed, up to `block_bytes()`.
    /// \returns  awaitable of a `lease`.
    /// Suspends: while no block is free. Resumes: on the coroutine's executor.
    /// Order:    first come, first served.
    /// Errors:   `std::invalid_argument` for more than a block; `weir::cuda::error` if the device is broken;
    ///           `std::logic_error` if no executor runs the coroutine.
    [[nodiscard("co_await this, or nothing is got")]] task<lease> acquire(std::size_t bytes) {
        return get(shared_, checked(bytes));
    }
    /// The same, and gives up when `stop` asks. \returns awaitable of an optional lease: none after a stop.
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<lease>> acquire(std::size_t bytes,
                                                                                         stop_token stop) {
        return get_unless(shared_, checked(bytes), std::move(stop));
    }

    /// Without waiting. \returns none if no block is free. Errors: as of `acquire`.
    [[nodiscard]] std::optional<lease> try_acquire(std::size_t bytes) {
        checked(bytes);
        shared_->of()->check_device();
        auto block = shared_->free.try_get();
        if (!block) return std::nullopt;
        return lease(shared_, *block, bytes);
    }

    [[nodiscard]] std::size_t block_bytes() const noexcept {
        return shared_->block_bytes;
    }  ///< as constructed
    [[nodiscard]] std::size_t blocks() const noexcept { return shared_->count; }  ///< as constructed

    /// \returns what the queue of free blocks measured: `size` are free, `num_get` were lent, and
    ///          `get_wait` is for how long some were waited for. Errors: `std::bad_alloc`.
    [[nodiscard]] channel_stats stats() const {
        channel_stats s = shared_->free.stats();
        s.name = name_;
        return s;
    }

  private:
    using blocks_ptr = std::shared_ptr<detail::pinned_blocks>;

    static task<lease> get(blocks_ptr from, std::size_t bytes) {
        from->of()->check_device();
        lease got(from, *co_await from->free.get(), bytes);
        from->of()->check_device();
        co_return std::move(got);
    }
    static task<std::optional<lease>> get_unless(blocks_ptr from, std::size_t bytes, stop_token stop) {
        from->of()->check_device();
        const std::optional<std::byte*> block = co_await from->free.get(std::move(stop));
        if (!block) co_return std::nullopt;
        lease got(from, *block, bytes);
        from->of()->check_device();
        co_return std::move(got);
    }

    std::size_t checked(std::size_t bytes) const {
        if (bytes <= shared_->block_bytes) return bytes;
        throw std::invalid_argument("weir: " + std::to_string(bytes) + " bytes don't fit into a block of '" +
                                    name_ + "', which has " + std::to_string(shared_->block_bytes) +
                                    "; make the blocks of the pinned_pool larger");
    }

    blocks_ptr shared_;
    std::string name_;
};

}  // namespace weir::cuda

#endif
