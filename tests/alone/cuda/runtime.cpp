#include <weir/cuda/runtime.hpp>

weir::cuda::piece piece_of(void* to, const void* from) { return {.to = to, .from = from, .bytes = 1}; }
cudaError_t last() { return cudaGetLastError(); }
