#include <weir/cuda/device_buffers.hpp>

float* pixels(weir::cuda::device_buffers<float, int>& batch, const weir::cuda::stream& training) {
    batch.hand_over(training);
    return std::get<0>(batch.parts()).data();
}
