#include <weir/cuda/device_blocks.hpp>

weir::cuda::device_blocks places(weir::cuda::context& gpu, void* memory) {
    return weir::cuda::device_blocks(gpu, memory, 256, 4);
}
