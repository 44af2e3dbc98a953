#include <weir/cuda/device_buffer.hpp>

weir::task<float*> take(weir::cuda::device_buffer<float>& batch, const weir::cuda::stream& mine) {
    batch.hand_over(mine);
    co_await batch.copied();
    co_return batch.data();
}
