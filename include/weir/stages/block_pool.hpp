// weir stages: a pool of memory blocks of one size, for which coroutines wait, and arrays in its blocks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_BLOCK_POOL_HPP
#define WEIR_STAGES_BLOCK_POOL_HPP

#include <weir/channel/channel.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <concepts>     // for std::convertible_to, std::movable
#include <cstddef>      // for std::byte, std::size_t
#include <cstdint>      // for SIZE_MAX
#include <memory>       // for std::shared_ptr
#include <new>          // for std::align_val_t, std::bad_alloc
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::is_trivially_copyable_v, std::remove_cvref_t
#include <utility>      // for std::exchange, std::move, std::swap

namespace weir {

/// A pool from which `batch_slots<T>` takes its blocks: a `block_pool`, a `cuda::pinned_pool`, or a class of
/// the user. `try_acquire` returns an optional array of `n` elements, empty if no block is free. `acquire`
/// returns an awaitable of such an optional, empty after a stop. The array has `data()`, `size()`, and
/// `resize(k)` for a smaller `k`, after which the first `k` elements remain.
template <class Pool, class T>
concept block_source = requires(Pool& pool, std::size_t n, stop_token stop) {
    { pool.template try_acquire<T>(n)->data() } -> std::convertible_to<T*>;
    { pool.template try_acquire<T>(n)->size() } -> std::convertible_to<std::size_t>;
    pool.template try_acquire<T>(n)->resize(n);
    requires std::movable<typename decltype(pool.template try_acquire<T>(n))::value_type>;
    pool.template acquire<T>(n, std::move(stop));
};

namespace detail {

// The memory of a block_pool: exists until the pool, all arrays in its blocks, and all coroutines that wait
// for a block are destroyed. All blocks are one allocation; each block begins at a page.
class pool_memory {
    static constexpr std::size_t page = 4096;

  public:
    pool_memory(std::size_t bytes, std::size_t blocks, std::string name)
        : free(checked(bytes, blocks)), block_bytes(bytes) {
        detail::base_of(free).set_name(std::move(name));
        const std::size_t stride = (bytes + page - 1) / page * page;
        if (stride < bytes || stride > SIZE_MAX / blocks) throw std::bad_alloc();
        memory_ = static_cast<std::byte*>(::operator new(stride * blocks, std::align_val_t(page)));
        for (std::size_t i = 0; i < blocks; ++i) static_cast<void>(free.try_put(memory_ + i * stride));
    }
    pool_memory(const pool_memory&) = delete;
    pool_memory& operator=(const pool_memory&) = delete;
    ~pool_memory() { ::operator delete(memory_, std::align_val_t(page)); }

    void put_back(std::byte* block) noexcept { static_cast<void>(free.try_put(std::move(block))); }

    channel<std::byte*> free;  // the free blocks
    const std::size_t block_bytes;

  private:
    // Returns `blocks`. Throws for 0, and for negative numbers.
    static std::size_t checked(std::size_t bytes, std::size_t blocks) {
        detail::refuse_if(
            bytes == 0 || blocks == 0,
            "weir: a block_pool of no blocks, or of blocks of no bytes, has nothing to give; give "
            "it one or more of each");
        detail::refuse_negative(bytes, "weir: the size of a block was negative; give it 1 byte or more");
        detail::refuse_negative(blocks, "weir: the number of blocks was negative; give the pool 1 or more");
        return blocks;
    }

    std::byte* memory_ = nullptr;
};

}  // namespace detail

/// An array in a block of a `block_pool`; a contiguous range.
///
/// Lifetime: the destructor returns the block to its pool. May outlive the pool.
/// Threads:  as a `std::vector`.
/// Cost:     a `try_put` to return the block.
template <class T>
class [[nodiscard("the block goes back at once")]] pooled_block {
    static_assert(std::is_trivially_copyable_v<T>,
                  "weir: a pooled_block holds elements that need neither constructor nor destructor: those "
                  "that are trivially copyable");

  public:
    using value_type = T;

    pooled_block(pooled_block&& other) noexcept
        : pool_(std::move(other.pool_)), block_(std::exchange(other.block_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    pooled_block& operator=(pooled_block&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(block_, other.block_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~pooled_block() {
        if (block_ != nullptr) pool_->put_back(block_);
    }

    /// The first element, at the beginning of a page; null after the block was moved into a new array. (An
    /// assignment swaps the blocks of both arrays.)
    [[nodiscard]] T* data() const noexcept { return static_cast<T*>(static_cast<void*>(block_)); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< the number of elements
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }   ///< whether `size()` is 0
    [[nodiscard]] T* begin() const noexcept { return data(); }
    [[nodiscard]] T* end() const noexcept { return data() + size_; }
    /// The element at index `i`, which is not checked.
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data()[i]; }

    /// Keeps only the first `size` elements. \param size  if not below `size()`, nothing changes.
    void resize(std::size_t size) noexcept { size_ = detail::smaller(size, size_); }

  private:
    friend class block_pool;
    pooled_block(std::shared_ptr<detail::pool_memory> pool, std::byte* block, std::size_t size) noexcept
        : pool_(std::move(pool)), block_(block), size_(size) {}

    std::shared_ptr<detail::pool_memory> pool_;
    std::byte* block_;
    std::size_t size_;
};

/// A fixed number of memory blocks of one size. A coroutine that finds no free block waits: so a stage that
/// fills blocks can't get far ahead of the stages that use them. For page-locked blocks, from which a GPU
/// copies by itself, there is `cuda::pinned_pool`.
///
/// Lifetime: may be destroyed before its blocks, and before or after the executors of coroutines that waited.
/// Threads:  any.
/// Cost:     the constructor allocates all blocks at once; `acquire` allocates the frame of its task.
class block_pool {
  public:
    /// \param block_bytes  the size of each block, at least 1.
    /// \param blocks       the number of blocks, at least 1. Each batch that is being filled, waits in a
    ///                     queue, or is in use needs one.
    /// \param name         for statistics and deadlock reports.
    /// Errors: `std::invalid_argument` for 0, and for negative numbers; `std::bad_alloc`.
    block_pool(std::size_t block_bytes, std::size_t blocks, std::string name = "blocks")
        : shared_(std::make_shared<detail::pool_memory>(block_bytes, blocks, std::move(name))) {}

    /// Waits for a free block.
    /// \param n  in elements; not more than fit into a block. The elements are not initialised.
    /// \returns  awaitable of an optional `pooled_block<T>`, empty if `stop` ends the wait.
    /// Suspends: while no block is free. Resumes: on the coroutine's executor.
    /// Order:    first come, first served.
    /// Errors:   `std::invalid_argument` for more elements than fit into a block; those of a wait of
    ///           `channel`, such as `stopped` in a stage that is stopped.
    template <class T>
    [[nodiscard("co_await this, or nothing is got")]] task<std::optional<pooled_block<T>>> acquire(
        std::size_t n, stop_token stop = {}) {
        check_size<T>(n);
        return get<T>(shared_, n, std::move(stop));
    }
    /// Acquires a block without waiting. \returns none if no block is free. Errors: those of `acquire`,
    /// except those of a wait.
    template <class T>
    [[nodiscard]] std::optional<pooled_block<T>> try_acquire(std::size_t n) {
        check_size<T>(n);
        const auto block = shared_->free.try_get();
        if (!block) return std::nullopt;
        return pooled_block<T>(shared_, *block, n);
    }

    /// The size of each block, as given to the constructor.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return shared_->block_bytes; }
    /// The number of blocks, as given to the constructor.
    [[nodiscard]] std::size_t blocks() const noexcept { return shared_->free.capacity(); }

    /// \returns the statistics of the queue of free blocks since the pool was made: `size` blocks are free,
    ///          `num_get` were acquired, and `get_wait` is the sum of the times that coroutines waited.
    ///          Errors: `std::bad_alloc`.
    [[nodiscard]] channel_stats stats() const { return shared_->free.stats(); }

  private:
    using memory_ptr = std::shared_ptr<detail::pool_memory>;

    // The task of `acquire`: static, as the pool may be destroyed during the wait.
    template <class T>
    static task<std::optional<pooled_block<T>>> get(memory_ptr from, std::size_t n, stop_token stop) {
        const std::optional<std::byte*> block = co_await from->free.get(std::move(stop));
        if (!block) co_return std::nullopt;
        pooled_block<T> array(from, *block, n);
        co_return std::move(array);
    }
    // Throws if `n` elements don't fit into a block.
    template <class T>
    void check_size(std::size_t n) const {
        static_assert(alignof(T) <= 4096,
                      "weir: a block of a block_pool begins at a page: its elements can be aligned to 4096 "
                      "bytes at most");
        if (n <= shared_->block_bytes / sizeof(T)) return;
        throw std::invalid_argument(
            "weir: " + std::to_string(n) + " elements of " + std::to_string(sizeof(T)) +
            " bytes don't fit into a block of '" + shared_->free.name() + "', which has " +
            std::to_string(shared_->block_bytes) + " bytes; make the blocks of the pool larger");
    }

    memory_ptr shared_;
};

}  // namespace weir

#endif
