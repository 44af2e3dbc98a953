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

// Where arrays of so many elements begin in one piece of memory, and, in the last place, how large that is.
template <class... Ts>
constexpr std::array<std::size_t, sizeof...(Ts) + 1> indexes_of(
    const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept {
    constexpr std::size_t alignment = 256;  // as of the runtime's own
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

/// The parts of a batch on a GPU, or on their way there, in one piece of memory that came by one copy: what
/// `to_device` gives for `parts(...)`.
///
///     b.data.hand_over(training);
///     auto [pixels, labels] = b.data.parts();  // spans, of memory of the device
///     train<<<grid, block, 0, training.get()>>>(pixels.data(), labels.data(), labels.size());
///
/// Lifetime: as of a `device_buffer`: all parts together.
/// Threads:  as a `std::vector`.
/// Cost:     as of a `device_buffer`.
template <class... Ts>
class device_buffers {
  public:
    /// For who fills it: `to_device`.
    /// \param sizes  of each part, in elements.
    device_buffers(detail::device_memory memory, const std::array<std::size_t, sizeof...(Ts)>& sizes) noexcept
        : memory_(std::move(memory)), sizes_(sizes) {}

    /// \returns where each part lies, in the order in which they were named; each begins at a multiple of
    ///          256 bytes.
    /// Lifetime: that of this object. The host must not look into it, unless `on_device` is false.
    [[nodiscard]] std::tuple<std::span<Ts>...> parts() const noexcept {
        return spans(std::index_sequence_for<Ts...>());
    }
    /// \returns how many elements each part has. Lifetime: that of this object.
    [[nodiscard]] const std::array<std::size_t, sizeof...(Ts)>& sizes() const noexcept { return sizes_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }  ///< of all parts
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }      ///< or on the host

    /// All parts together: see `device_buffer::hand_over`. Errors: as of that.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: the copy is done.
    /// Suspends: always, but on the host. Resumes: on the coroutine's executor. Errors: as of `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns what is behind it: for what is built on it, and nobody else.
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

/// A batch of which parts were copied to the device, and the rest of it.
template <class Batch, class... Ts>
struct device_batch {
    Batch host;  ///< as it came, what was copied included; but a `pinned_buffer` was given away
    /// The copy.
    std::conditional_t<sizeof...(Ts) == 1, device_buffer<std::tuple_element_t<0, std::tuple<Ts...>>>,
                       device_buffers<Ts...>>
        data;
};

}  // namespace weir::cuda

#endif
