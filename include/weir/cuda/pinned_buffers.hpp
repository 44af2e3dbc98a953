// weir cuda: several arrays in one block of page-locked memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_PINNED_BUFFERS_HPP
#define WEIR_CUDA_PINNED_BUFFERS_HPP

#include <weir/cuda/device_buffers.hpp>
#include <weir/cuda/lease.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::byte, std::size_t
#include <span>     // for std::span
#include <tuple>    // for std::tuple
#include <utility>  // for std::index_sequence, std::move

namespace weir::cuda {

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
    /// \param block  has the parts in this order, each at a multiple of 256 bytes.
    /// \param sizes  of each part, in elements.
    pinned_buffers(lease block, const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept
        : block_(std::move(block)), sizes_(sizes) {}

    /// \returns the parts, in the order in which they were named; empty spans after `release`.
    /// Lifetime: that of this object.
    [[nodiscard]] std::tuple<std::span<Ts>...> parts() const noexcept {
        if (block_.bytes().empty()) return {};
        return spans(std::index_sequence_for<Ts...>());
    }

    /// \returns the block, for a function that takes a `lease`.
    [[nodiscard]] lease release() && noexcept { return std::move(block_); }

  private:
    template <std::size_t... Is>
    std::tuple<std::span<Ts>...> spans(std::index_sequence<Is...>) const noexcept {
        const auto places = detail::indexes_of<Ts...>(sizes_);
        std::byte* const first = block_.bytes().data();
        return {std::span<Ts>(static_cast<Ts*>(static_cast<void*>(first + places[Is])), sizes_[Is])...};
    }

    lease block_;
    std::array<std::size_t, sizeof...(Ts)> sizes_;
};

}  // namespace weir::cuda

#endif
