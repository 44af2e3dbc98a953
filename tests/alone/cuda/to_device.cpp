#include <weir/cuda/to_device.hpp>

auto upload(weir::cuda::context& gpu, weir::cuda::pinned_pool& pool) {
    return weir::cuda::to_device(gpu, pool, {.depth = 3, .when = weir::cuda::hand_on::when_copied});
}
