#include <weir/cuda/stream.hpp>

cudaStream_t both(weir::cuda::context& gpu, cudaStream_t other) {
    const weir::cuda::stream mine(gpu);
    const weir::cuda::stream borrowed(gpu, other);
    weir::cuda::event e(gpu);
    mine.record(e);
    borrowed.wait(e);
    static_cast<void>(mine.done());
    return borrowed.get();
}
