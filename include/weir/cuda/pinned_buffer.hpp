// weir cuda: elements in a block of page-locked memory, on loan
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_PINNED_BUFFER_HPP
#define WEIR_CUDA_PINNED_BUFFER_HPP

#include <weir/cuda/lease.hpp>

#include <cstddef>      // for std::size_t
#include <type_traits>  // for std::is_trivially_copyable_v
#include <utility>      // for std::move

namespace weir::cuda {

/// An array in a page-locked block. A batch is collated into it without another copy; `to_host` returns it. A
/// contiguous range.
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

    /// The first element; null after `release`.
    [[nodiscard]] T* data() const noexcept {
        return static_cast<T*>(static_cast<void*>(block_.bytes().data()));
    }
    /// In elements; 0 after `release`.
    [[nodiscard]] std::size_t size() const noexcept { return block_.bytes().empty() ? 0 : size_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }  ///< as a `std::vector`
    [[nodiscard]] T* begin() const noexcept { return data(); }
    [[nodiscard]] T* end() const noexcept { return data() + size(); }
    /// As of a `std::vector`.
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data()[i]; }

    /// \returns the block, for `lease::copy_to` or another function that takes a `lease`.
    [[nodiscard]] lease release() && noexcept { return std::move(block_); }

  private:
    lease block_;
    std::size_t size_;
};

}  // namespace weir::cuda

#endif
