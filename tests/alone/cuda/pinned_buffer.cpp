#include <weir/cuda/pinned_buffer.hpp>

float first(const weir::cuda::pinned_buffer<float>& batch) { return batch[0]; }
