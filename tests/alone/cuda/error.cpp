#include <weir/cuda/error.hpp>

bool is_of_memory(const weir::cuda::error& e) {
    return e.status() == cudaErrorMemoryAllocation && !e.sticky() && e.call() != nullptr && e.stage().empty();
}
