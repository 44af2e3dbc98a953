#include <weir/cuda/to_host.hpp>

auto download(weir::cuda::context& gpu, weir::cuda::pinned_pool& pool) {
    return weir::cuda::to_host(gpu, pool, {.depth = 3});
}
