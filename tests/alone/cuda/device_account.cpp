#include <weir/cuda/device_account.hpp>

class mine final : public weir::cuda::device_allocator {
  public:
    void* allocate(std::size_t bytes, cudaStream_t) override {
        void* memory = nullptr;
        return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
    }
    void free(void* memory, std::size_t, cudaStream_t) noexcept override {
        static_cast<void>(cudaFree(memory));
    }
};
