// weir cuda: several arrays in one piece of memory on a GPU
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_BUFFERS_HPP
#define WEIR_CUDA_DEVICE_BUFFERS_HPP

#include <weir/cuda/device_buffer.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/stream.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::byte, std::size_t
#include <span>         // for std::span
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::index_sequence, std::move

namespace weir::cuda {

namespace detail {

// Returns the offsets, in bytes, of arrays with `sizes` elements in one piece of memory; the last value is
// the size of all.
template <class... Ts>
constexpr std::array<std::size_t, sizeof...(Ts) + 1> indexes_of(
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

}  // namespace detail

/// Several arrays in one piece of device memory, filled by one copy, which may be pending: the result of
/// `to_device` for `parts(...)`.
///
///     b.data.hand_over(training);
///     auto [pixels, labels] = b.data.parts();  // spans of device memory
///     train<<<grid, block, 0, training.get()>>>(pixels.data(), labels.data(), labels.size());
///
/// Lifetime: that of a `device_buffer`, for all parts together.
/// Threads:  as a `std::vector`.
/// Cost:     that of a `device_buffer`.
template <class... Ts>
class device_buffers {
  public:
    /// For `to_device`.
    /// \param sizes  of each part, in elements.
    device_buffers(detail::device_memory memory, const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept
        : memory_(std::move(memory)), sizes_(sizes) {}

    /// \returns the parts, in the order in which they were named; each begins at a multiple of 256 bytes.
    /// Lifetime: that of this object. The host must not access the elements, unless `on_device` is false.
    [[nodiscard]] std::tuple<std::span<Ts>...> parts() const noexcept {
        return spans(std::index_sequence_for<Ts...>());
    }
    /// \returns the number of elements of each part. Lifetime: that of this object.
    [[nodiscard]] const std::array<std::size_t, sizeof...(Ts)>& sizes() const noexcept { return sizes_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }  ///< of all parts
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }      ///< or on the host

    /// For all parts together: see `device_buffer::hand_over`. Errors: those of this function.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: waits until the copy is done.
    /// Suspends: always, except on the host. Resumes: on the coroutine's executor. Errors: those of
    ///           `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns the memory. For other headers of weir only.
    [[nodiscard]] detail::device_memory release() && noexcept { return std::move(memory_); }

  private:
    template <std::size_t... Is>
    std::tuple<std::span<Ts>...> spans(std::index_sequence<Is...>) const noexcept {
        const auto places = detail::indexes_of<Ts...>(sizes_);
        auto* const first = static_cast<std::byte*>(memory_.data());
        return {std::span<Ts>(static_cast<Ts*>(static_cast<void*>(first + places[Is])), sizes_[Is])...};
    }

    detail::device_memory memory_;
    std::array<std::size_t, sizeof...(Ts)> sizes_;
};

/// A batch on the host, and the copy of its parts on the device.
template <class Batch, class... Ts>
struct device_batch {
    Batch host;  ///< the batch, copied parts included; but a copied `pinned_buffer` is empty
    /// The copy.
    std::conditional_t<sizeof...(Ts) == 1, device_buffer<std::tuple_element_t<0, std::tuple<Ts...>>>,
                       device_buffers<Ts...>>
        data;
};

}  // namespace weir::cuda

#endif
