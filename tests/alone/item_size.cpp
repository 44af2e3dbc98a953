#include <weir/item_size.hpp>

#include <cstddef>

struct image {};

template <>
struct weir::item_size<image> {
    static std::size_t of(const image&) noexcept { return 1000; }
};
