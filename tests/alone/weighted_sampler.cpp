#include <weir/weighted_sampler.hpp>

#include <cstdint>

std::uint64_t first() {
    const double weights[] = {1, 2, 3};
    weir::weighted_sampler mine(weights, {.draws = 10, .seed = 7, .shard = {0, 2}});
    return mine.next()->index;
}
