// weir cuda, internal: finds the device memory of an item, and the type of its copy on the host
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_PARTS_HPP
#define WEIR_CUDA_DEVICE_PARTS_HPP

#include <weir/cuda/device_buffer.hpp>
#include <weir/cuda/device_buffers.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/fetch.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_buffer.hpp>
#include <weir/cuda/pinned_buffers.hpp>

#include <array>       // for std::array
#include <cstddef>     // for std::size_t
#include <functional>  // for std::invoke
#include <tuple>       // for std::tuple
#include <utility>     // for std::move
#include <vector>      // for std::vector

namespace weir::cuda::detail {

// Several arrays in `number` pieces of device memory.
template <std::size_t number, class... Ts>
struct found_parts {
    using pinned = pinned_buffers<Ts...>;
    using vectors = std::tuple<std::vector<Ts>...>;

    found_parts(std::array<fetched, number> from, const std::array<std::size_t, sizeof...(Ts)>& each)
        : memory(std::move(from)), sizes(each) {}

    pinned in(lease block) const { return pinned(std::move(block), sizes); }
    static vectors copy_of(const pinned& there) {
        return std::apply(
            [](const auto&... each) { return vectors(std::vector<Ts>(each.begin(), each.end())...); },
            there.parts());
    }

    std::array<fetched, number> memory;
    std::array<std::size_t, sizeof...(Ts)> sizes;
};
// One array.
template <class T>
struct found_parts<1, T> {
    using pinned = pinned_buffer<T>;
    using vectors = std::vector<T>;

    explicit found_parts(device_memory from) : memory{fetched(std::move(from), 0)} {}

    pinned in(lease block) const { return pinned(std::move(block), memory[0].memory.bytes() / sizeof(T)); }
    static vectors copy_of(const pinned& there) { return vectors(there.begin(), there.end()); }

    std::array<fetched, 1> memory;
};

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
            const auto places = indexes_of<Ts...>(sizes);
            std::size_t i = 0;
            return found_parts<sizeof...(Ts), Ts...>({fetched(std::move(each).release(), places[i++])...},
                                                     sizes);
        },
        buffers);
}

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

template <class Part, class Item>
concept has_buffers = requires(const Part& part, Item& item) { detail::find_parts(part, item); };

}  // namespace weir::cuda::detail

#endif
