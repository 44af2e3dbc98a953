// weir cuda: a block of page-locked memory from a pool
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_LEASE_HPP
#define WEIR_CUDA_LEASE_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/platform/numbers.hpp>

#include <array>      // for std::array
#include <cstddef>    // for std::byte, std::size_t
#include <cstdint>    // for SIZE_MAX
#include <cstring>    // for std::memcpy
#include <memory>     // for std::shared_ptr
#include <new>        // for std::align_val_t
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <tuple>      // for std::tuple
#include <utility>    // for std::exchange, std::index_sequence, std::move

namespace weir::cuda {

namespace detail {

// The memory of a pinned_pool: exists until the pool and all leases are destroyed, and no copy from a block
// is pending. One allocation; each block begins at a page.
class pinned_blocks {
    static constexpr std::size_t page = 4096;

  public:
    pinned_blocks(std::shared_ptr<context_state> of, std::size_t bytes, std::size_t blocks, std::string name)
        : free(checked(bytes, blocks), clock_, std::move(name)), block_bytes(bytes), count(blocks),
          state_(std::move(of)) {
        const std::size_t stride = (bytes + page - 1) / page * page;
        if (stride < bytes || stride > SIZE_MAX / blocks) throw std::bad_alloc();
        if (state_->on_host()) {
            memory_ = ::operator new(stride * blocks, std::align_val_t(page));
        } else {
            const auto lock = [&]() noexcept {
                return cudaHostAlloc(&memory_, stride * blocks, cudaHostAllocPortable);
            };
            state_->check_call(state_->call_on_context_thread(lock), "cudaHostAlloc");
        }
        auto* const first = static_cast<std::byte*>(memory_);
        for (std::size_t i = 0; i < blocks; ++i) static_cast<void>(free.try_put(first + i * stride));
    }
    pinned_blocks(const pinned_blocks&) = delete;
    pinned_blocks& operator=(const pinned_blocks&) = delete;
    ~pinned_blocks() {
        if (state_->on_host()) {
            ::operator delete(memory_, std::align_val_t(page));
        } else {
            const exempt_from_captures freeing;
            without_last_error(cudaFreeHost(memory_));
        }
    }

    const std::shared_ptr<context_state>& of() const noexcept { return state_; }
    void put_back(std::byte* block) noexcept { static_cast<void>(free.try_put(std::move(block))); }

    bool is_page_locked() const noexcept { return !state_->on_host(); }

  private:
    clock_executor clock_;  // of the channel `free`

  public:
    channel<std::byte*> free;  // the blocks that neither a lease nor pending work has
    const std::size_t block_bytes;
    const std::size_t count;

  private:
    // Returns `blocks`. Throws for 0.
    static std::size_t checked(std::size_t bytes, std::size_t blocks) {
        if (bytes != 0 && blocks != 0) return blocks;
        throw std::invalid_argument("weir: a pinned_pool of " + std::to_string(blocks) + " blocks of " +
                                    std::to_string(bytes) +
                                    " bytes has nothing to give; it needs at least one");
    }

    std::shared_ptr<context_state> state_;
    void* memory_ = nullptr;
};

class device_memory;

// Returns the size of `n` elements; SIZE_MAX, which is more than any pool has, if it can't be represented.
template <class T>
constexpr std::size_t bytes_of(std::size_t n) noexcept {
    return n > SIZE_MAX / sizeof(T) ? SIZE_MAX : n * sizeof(T);
}

// Returns the offsets, in bytes, of arrays with `sizes` elements in one piece of memory; the last value is
// the size of all.
template <class... Ts>
constexpr std::array<std::size_t, sizeof...(Ts) + 1> offsets_of(
    const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept {
    constexpr std::size_t alignment = 256;  // as that of cudaMalloc
    constexpr std::array<std::size_t, sizeof...(Ts)> each{sizeof(Ts)...};
    std::array<std::size_t, sizeof...(Ts) + 1> places{};
    for (std::size_t i = 0; i < sizeof...(Ts); ++i) {
        const std::size_t end = places[i] + sizes[i] * each[i];
        const bool is_last = i + 1 == sizeof...(Ts);
        places[i + 1] = is_last ? end : (end + alignment - 1) / alignment * alignment;
    }
    return places;
}

// Returns the arrays with `sizes` elements that lie in the memory from `first` on, at the offsets of
// offsets_of().
template <class... Ts>
std::tuple<std::span<Ts>...> spans_of(void* first,
                                      const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept {
    const auto places = offsets_of<Ts...>(sizes);
    auto* const bytes = static_cast<std::byte*>(first);
    const auto spans = [&]<std::size_t... Is>(std::index_sequence<Is...>) {
        return std::tuple(std::span(static_cast<Ts*>(static_cast<void*>(bytes + places[Is])), sizes[Is])...);
    };
    return spans(std::index_sequence_for<Ts...>());
}

}  // namespace detail

/// A block of page-locked memory from a `pinned_pool`.
///
/// Lifetime: the destructor returns the block to its pool. After `copy_to` or `return_after`, the block is
///           returned when the device has done the queued work. May outlive its pool.
/// Threads:  as a `std::vector`.
/// Devices:  a stream of any GPU may copy from the block, whichever context the pool was made from.
/// Cost:     a `channel::try_put` to return the block; `copy_to` costs as much as `stream::done`.
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

    /// \returns the memory, of the size given to `acquire` or `resize`; empty after `copy_to` or
    /// `return_after`.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return block_ == nullptr ? std::span<std::byte>() : std::span(block_, size_);
    }

    /// Keeps only the first bytes. \param size  in bytes; if not below `bytes().size()`, nothing changes.
    void resize(std::size_t size) noexcept { size_ = weir::detail::smaller(size, size_); }

    /// Queues a copy of `bytes()` to device memory. The block goes back to its pool when the copy is done.
    /// Errors: `weir::cuda::error`; `std::logic_error` if the stream's context is gone;
    ///         `std::invalid_argument` for a stream of a GPU if the block is ordinary memory, or if the lease
    ///         has no block any more. After an error no copy is pending, and the lease keeps the block.
    void copy_to(const stream& s, void* to) {
        check_block();
        queue_copy(s, to);
        give_away(s);
    }

    /// The block goes back to its pool when all work queued on the stream is done.
    /// Errors: `weir::cuda::error`; `std::logic_error` if the stream's context is gone;
    ///         `std::invalid_argument` if the lease has no block any more. After other errors the lease keeps
    ///         the block, and the queued work is done, except work captured into a graph.
    void return_after(const stream& s) {
        check_block();
        detail::context_state& of = *s.shared()->of();
        try {
            if (!of.on_host()) of.check_not_captured(s.get(), "cudaEventRecord");
        } catch (const error& e) {
            if (e.status() != cudaErrorStreamCaptureUnsupported) of.wait_for_stream(s.get());
            throw;
        }
        give_away(s);
    }

  private:
    friend class pinned_pool;
    friend class detail::device_memory;
    lease(std::shared_ptr<detail::pinned_blocks> pool, std::byte* block, std::size_t size) noexcept
        : pool_(std::move(pool)), block_(block), size_(size) {}

    // Throws if the lease has no block any more.
    void check_block() const {
        if (block_ != nullptr) return;
        throw std::invalid_argument(
            "weir: this lease has no block: it was given away by copy_to or return_after, or moved away; "
            "acquire another lease");
    }

    // Puts the block back into its pool when all work queued on the stream is done. The caller has checked
    // that the stream is not captured.
    void give_away(const stream& s) {
        detail::context_state& of = *s.shared()->of();
        if (of.on_host()) {
            pool_->put_back(std::exchange(block_, nullptr));
            return;
        }
        std::optional<detail::ticket> t;  // of the queued work, at whose end the function below is called
        try {
            t.emplace(of, [](detail::completion& c) noexcept {
                static_cast<detail::pinned_blocks*>(c.kept.get())->put_back(c.block);
            });
        } catch (...) {
            of.wait_for_stream(s.get());  // queued work may use the block
            throw;
        }
        detail::completion& c = t->get();
        c.kept = pool_;
        c.block = block_;
        c.bytes = size_;
        c.promised.emplace();  // no deadlock while this is pending: a wait for a block will end
        t->submit(s.get());
        block_ = nullptr;
    }

    // Queues the copy to device memory. The lease keeps the block.
    void queue_copy(const stream& s, void* to) const {
        detail::context_state& of = *s.shared()->of();
        if (of.on_host()) {
            if (size_ != 0) std::memcpy(to, block_, size_);
            return;
        }
        if (!pool_->is_page_locked()) {
            throw std::invalid_argument(
                "weir: a GPU copies by itself from page-locked memory only, and this block's pinned_pool was "
                "made from a context without a device; make it from one of a GPU");
        }
        of.check_not_captured(s.get(), "cudaMemcpyAsync");
        of.check_call(cudaMemcpyAsync(to, block_, size_, cudaMemcpyHostToDevice, s.get()), "cudaMemcpyAsync");
    }

    std::shared_ptr<detail::pinned_blocks> pool_;
    std::byte* block_;
    std::size_t size_;
};

}  // namespace weir::cuda

#endif
