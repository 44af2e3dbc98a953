#include <weir/cuda/device_pool.hpp>

weir::task<weir::cuda::device_buffer<float>> some(weir::cuda::device_pool& memory, weir::cuda::stream work) {
    auto there = co_await memory.acquire<float>(100, work);
    co_return std::move(there);
}
