#include <weir/cuda/pinned_buffers.hpp>

float first(const weir::cuda::pinned_buffers<char, float>& batch) { return std::get<1>(batch.parts())[0]; }
