// weir cuda: selects the parts of a batch to copy, to a GPU and back, and the types of the copies
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_PARTS_HPP
#define WEIR_CUDA_PARTS_HPP

#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/pinned_pool.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::byte, std::size_t
#include <cstring>      // for std::memcpy
#include <functional>   // for std::invoke
#include <ranges>       // for std::ranges::contiguous_range
#include <span>         // for std::span
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::conditional_t, std::is_trivially_copyable_v
#include <utility>      // for std::declval, std::move
#include <vector>       // for std::vector

namespace weir::cuda {

/// Several parts of a batch, for `to_device` or `to_host`: the result of `parts`.
template <class... Parts>
struct parts_of {
    std::tuple<Parts...> each;  ///< the arguments of `parts`
};

/// Selects several parts of a batch, for instance of a struct of tensors. `to_device` packs the parts into
/// one block, makes one copy, and gives `device_buffers`. `to_host` copies several `device_buffer`s into one
/// block.
///
///     to_device(gpu, pool, {}, weir::cuda::parts(&batch::pixels, &batch::labels))
///
/// \param each  a pointer to a member, or a function of the batch: for `to_device` its result is a contiguous
///             range, for `to_host` a reference to a `device_buffer`.
/// \returns what `to_device` and `to_host` take as a part. Errors: those of copying a function.
template <class... Parts>
[[nodiscard]] constexpr parts_of<Parts...> parts(Parts... each) {
    return {std::tuple<Parts...>(std::move(each)...)};
}

/// A batch on the host, and the copy of its parts on the device.
template <class Batch, class... Ts>
struct device_batch {
    Batch host;  ///< the batch, with the copied parts; but a copied `pinned_buffer` or `lease` is empty
    /// The copy of the parts: on the device; on the host, if the context has no device (a machine without a
    /// GPU).
    std::conditional_t<sizeof...(Ts) == 1, device_buffer<std::tuple_element_t<0, std::tuple<Ts...>>>,
                       device_buffers<Ts...>>
        data;
};

namespace detail {

// A range of adjacent elements that can be copied byte by byte.
template <class View>
concept copyable_range = std::ranges::contiguous_range<View> && std::ranges::sized_range<View> &&
                         std::is_trivially_copyable_v<std::ranges::range_value_t<View>>;

// The element type of objects that own page-locked memory. The device copies from their block directly.
template <class X>
struct element_of_block {};
template <>
struct element_of_block<lease> {
    using type = std::byte;
};
template <class T>
struct element_of_block<pinned_buffer<T>> {
    using type = T;
};
// Moves the block out of such an object.
inline lease block_of(lease& given) noexcept { return std::move(given); }
template <class T>
lease block_of(pinned_buffer<T>& given) noexcept {
    return std::move(given).release();
}

// Whether the part of the batch owns page-locked memory.
template <class Part, class Batch>
concept has_block = requires(const Part& part, Batch& batch) {
    typename element_of_block<std::remove_reference_t<decltype(std::invoke(part, batch))>>::type;
    block_of(std::invoke(part, batch));
};
// Whether the part of the batch is a range that can be packed.
template <class Part, class Batch>
concept has_range = std::is_invocable_v<const Part&, const Batch&> &&
                    copyable_range<std::invoke_result_t<const Part&, const Batch&>>;

// The types of the results of `to_device` for a part, or for several parts. `whole`: if the part is the batch
// itself; `rest`: if the part is selected from the batch, which is in the result, too. No members: the part
// can't be copied.
template <class Part, class Batch>
struct copied_part {};
template <class Batch, class T>
struct copied_array {
    using whole = device_buffer<T>;
    using rest = device_batch<Batch, T>;
};
template <class Part, class Batch>
    requires has_block<Part, Batch>
struct copied_part<Part, Batch>
    : copied_array<Batch, typename element_of_block<
                              std::remove_reference_t<std::invoke_result_t<const Part&, Batch&>>>::type> {};
template <class Part, class Batch>
    requires(!has_block<Part, Batch> && has_range<Part, Batch>)
struct copied_part<Part, Batch>
    : copied_array<Batch, std::ranges::range_value_t<std::invoke_result_t<const Part&, const Batch&>>> {};
template <class... Parts, class Batch>
    requires(sizeof...(Parts) > 1 && (has_range<Parts, Batch> && ...))
struct copied_part<parts_of<Parts...>, Batch> {
    using whole = void;
    using rest =
        device_batch<Batch, std::ranges::range_value_t<std::invoke_result_t<const Parts&, const Batch&>>...>;
};

// Whether `to_device` can copy the part of the batch.
template <class Part, class Batch>
concept can_be_copied = requires { typename copied_part<Part, Batch>::rest; };

// A part of a batch on the host, and the offset `at` of its copy in a page-locked block.
struct host_part {
    host_part(const void* data, std::size_t size, std::size_t to) noexcept
        : from(data), bytes(size), at(to) {}
    const void* from;
    std::size_t bytes;
    std::size_t at;
};

// Returns the size of all parts in a block, with the gaps between them.
inline std::size_t size_of(std::span<const host_part> parts) noexcept {
    return parts.back().at + parts.back().bytes;
}
// Copies the parts to their offsets in a block.
inline void pack(std::span<const host_part> parts, void* to) noexcept {
    for (const host_part& p : parts) {
        if (p.bytes != 0) std::memcpy(static_cast<std::byte*>(to) + p.at, p.from, p.bytes);
    }
}

// The parts of one batch to be packed: references to members, or the ranges that functions returned.
template <class... Views>
class part_ranges {
    static constexpr std::size_t number = sizeof...(Views);
    template <class View>
    using element = std::ranges::range_value_t<View>;

  public:
    explicit part_ranges(std::tuple<Views...> views) : views_(std::move(views)) {}

    // Returns the parts, with their offsets in a block.
    std::array<host_part, number> pieces() const {
        return std::apply(
            [this](const auto&... each) {
                const auto places = offsets_of<element<Views>...>(sizes());
                std::size_t i = 0;
                return std::array<host_part, number>{
                    host_part(std::ranges::data(each), std::ranges::size(each) * sizeof(element<Views>),
                              places[i++])...};
            },
            views_);
    }
    // Returns `there`, which has the copies of the parts, as `device_buffer` or `device_buffers`.
    auto on_device(device_memory there) const {
        if constexpr (number == 1) {
            return device_buffer<element<Views>...>(std::move(there));
        } else {
            return device_buffers<element<Views>...>(std::move(there), sizes());
        }
    }

  private:
    // The numbers of elements of the parts.
    std::array<std::size_t, number> sizes() const {
        return std::apply(
            [](const auto&... each) {
                return std::array<std::size_t, number>{static_cast<std::size_t>(std::ranges::size(each))...};
            },
            views_);
    }

    std::tuple<Views...> views_;
};

// Returns the selected parts of a batch on the host, as ranges to be packed.
template <class Part, class Batch>
auto ranges_of(const Part& part, const Batch& batch) {
    using view = std::invoke_result_t<const Part&, const Batch&>;
    return part_ranges<view>(std::tuple<view>(std::invoke(part, batch)));
}
template <class... Parts, class Batch>
auto ranges_of(const parts_of<Parts...>& parts, const Batch& batch) {
    using views = std::tuple<std::invoke_result_t<const Parts&, const Batch&>...>;
    return std::apply(
        [&batch](const auto&... each) {
            return part_ranges<std::invoke_result_t<decltype(each), const Batch&>...>(
                views(std::invoke(each, batch)...));
        },
        parts.each);
}

// A piece of device memory to be copied to a page-locked block, and the offset `at` of its copy in the block.
struct fetched {
    fetched(device_memory from, std::size_t to) noexcept : memory(std::move(from)), at(to) {}
    device_memory memory;
    std::size_t at;
};

// Several arrays in `number` pieces of device memory, to be copied to the host by `to_host`.
template <std::size_t number, class... Ts>
struct found_parts {
    using pinned = pinned_buffers<Ts...>;
    using vectors = std::tuple<std::vector<Ts>...>;

    found_parts(std::array<fetched, number> from, const std::array<std::size_t, sizeof...(Ts)>& each)
        : memory(std::move(from)), sizes(each) {}

    // Returns `block`, which has the copies of the pieces, as arrays. copy_of() copies the arrays to vectors.
    pinned arrays_in(lease block) const { return pinned(std::move(block), sizes); }
    static vectors copy_of(const pinned& there) {
        return std::apply(
            [](const auto&... each) { return vectors(std::vector<Ts>(each.begin(), each.end())...); },
            there.parts());
    }

    std::array<fetched, number> memory;
    std::array<std::size_t, sizeof...(Ts)> sizes;
};
// One array in a piece of device memory. Its copy is a pinned_buffer or a vector.
template <class T>
struct found_parts<1, T> {
    using pinned = pinned_buffer<T>;
    using vectors = std::vector<T>;

    explicit found_parts(device_memory from) : memory{fetched(std::move(from), 0)} {}

    pinned arrays_in(lease block) const {
        return pinned(std::move(block), memory[0].memory.bytes() / sizeof(T));
    }
    static vectors copy_of(const pinned& there) { return vectors(there.begin(), there.end()); }

    std::array<fetched, 1> memory;
};

// Move the device memory out of buffers.
template <class T>
found_parts<1, T> parts_in(device_buffer<T>& buffer) {
    return found_parts<1, T>(std::move(buffer).release());
}
template <class... Ts>
found_parts<1, Ts...> parts_in(device_buffers<Ts...>& buffers) {
    const std::array<std::size_t, sizeof...(Ts)> sizes = buffers.sizes();
    return found_parts<1, Ts...>({fetched(std::move(buffers).release(), 0)}, sizes);
}
template <class... Ts>
found_parts<sizeof...(Ts), Ts...> parts_in(std::tuple<device_buffer<Ts>&...> buffers) {
    return std::apply(
        [](device_buffer<Ts>&... each) {
            const std::array<std::size_t, sizeof...(Ts)> sizes{each.size()...};
            const auto places = offsets_of<Ts...>(sizes);
            std::size_t i = 0;
            return found_parts<sizeof...(Ts), Ts...>({fetched(std::move(each).release(), places[i++])...},
                                                     sizes);
        },
        buffers);
}

// Moves the device memory of the selected parts out of an item, to be copied to the host.
template <class Part, class Item>
auto find_parts(const Part& part, Item& item) -> decltype(detail::parts_in(std::invoke(part, item))) {
    return detail::parts_in(std::invoke(part, item));
}
template <class... Parts, class Item>
auto find_parts(const parts_of<Parts...>& parts, Item& item)
    -> decltype(detail::parts_in(std::tie(std::invoke(std::declval<const Parts&>(), item)...))) {
    return std::apply(
        [&item](const Parts&... each) { return detail::parts_in(std::tie(std::invoke(each, item)...)); },
        parts.each);
}

// Whether `to_host` can copy the part of the item.
template <class Part, class Item>
concept has_buffers = requires(const Part& part, Item& item) { detail::find_parts(part, item); };

}  // namespace detail

}  // namespace weir::cuda

#endif
