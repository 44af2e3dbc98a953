#include <weir/cuda/context.hpp>

bool is_usable() {
    const weir::cuda::context gpu(weir::cuda::device(0), {.or_host = true});
    return !gpu.on_host() && gpu.status() == cudaSuccess;
}
