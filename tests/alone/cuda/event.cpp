#include <weir/cuda/event.hpp>

bool is_over(weir::cuda::context& gpu) {
    const weir::cuda::event e(gpu);
    static_cast<void>(e.done());
    return e.ready();
}
