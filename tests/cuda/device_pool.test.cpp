#include <weir/cuda/device_pool.hpp>

#include "cuda/support.hpp"

#include <weir/task/sync_wait.hpp>

#include <cstdlib>
#include <optional>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::stream;

namespace {

// A framework's allocator.
class counting_allocator final : public weir::cuda::device_allocator {
  public:
    void* allocate(std::size_t bytes, cudaStream_t) override {
        ++allocated;
        void* memory = nullptr;
        return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
    }
    void free(void* memory, std::size_t, cudaStream_t s) noexcept override {
        ++freed;
        last = s;
        static_cast<void>(cudaFree(memory));
    }
    int allocated = 0;
    int freed = 0;
    cudaStream_t last = nullptr;
};

}  // namespace

TEST_CASE("a pool gives memory for the work of a stream, and counts it until that is done") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 1000);
    CHECK(memory.max_bytes() == 1000);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    {
        const device_buffer<int> there = weir::sync_wait(memory.acquire<int>(100, s));
        CHECK(there.size() == 100);
        CHECK(there.on_device());
    }
    CHECK(memory.bytes_in_use() == 400);
    stand_in::release(s.get());
    stand_in::wait_until_idle();
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("an allocator of one's own is asked, and told behind whose work the memory is free") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const stream consumer(gpu);
    counting_allocator own;
    device_pool memory(gpu, own);
    {
        device_buffer<int> there = weir::sync_wait(memory.acquire<int>(100, s));
        CHECK(own.allocated == 1);
        there.hand_over(consumer);
    }
    CHECK(own.freed == 1);
    CHECK(own.last == consumer.get());
}

TEST_CASE("memory may outlive its pool and its context") {
    const fresh_runtime runtime;
    std::optional<device_buffer<int>> left;
    {
        context gpu(either_way());
        device_pool memory(gpu, 1000);
        left = weir::sync_wait(memory.acquire<int>(100, stream(gpu)));
    }
    CHECK(left->size() == 100);
}
