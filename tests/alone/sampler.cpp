#include <weir/sampler.hpp>

#include <cstdint>

std::uint64_t first() {
    weir::sampler mine({.size = 50, .seed = 7, .shard = {0, 2}, .tail = weir::tail::pad});
    return mine.next()->index;
}
