// The device breaks, for this process: so this runs only where it is asked for, as the last and only one.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#if CUDART_VERSION >= 12080  // before, it took nvcc to have a kernel

#include <weir/cuda/context.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace on_gpu;
using weir::cuda::completion_by;
using weir::cuda::context;
using weir::cuda::copy;
using weir::cuda::stream;

namespace {

// Is busy for so many nanoseconds, and then writes to an address that is not 0.
constexpr const char* kernels = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry work(.param .u64 ns, .param .u64 address)
{
    .reg .u64 %t<4>;
    .reg .u64 %a;
    .reg .pred %p;
    ld.param.u64 %t0, [ns];
    ld.param.u64 %a, [address];
    mov.u64 %t1, %globaltimer;
again:
    mov.u64 %t2, %globaltimer;
    sub.u64 %t3, %t2, %t1;
    setp.lt.u64 %p, %t3, %t0;
    @%p bra again;
    setp.eq.u64 %p, %a, 0;
    @%p ret;
    st.volatile.global.u32 [%a], 1;
    ret;
}
)";

class kernel {
  public:
    kernel() {
        must(cudaFree(nullptr), "cudaFree");
        must(cudaLibraryLoadData(&library_, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
             "cudaLibraryLoadData");
        must(cudaLibraryGetKernel(&kernel_, library_, "work"), "cudaLibraryGetKernel");
        launch(nullptr, 0, 0);  // the first time it is loaded, which may wait for what runs
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    void launch(cudaStream_t on, unsigned long long ns, unsigned long long address) const {
        void* arguments[] = {&ns, &address};
        must(cudaLaunchKernel(kernel_, dim3(1), dim3(1), arguments, 0, on), "cudaLaunchKernel");
    }

  private:
    cudaLibrary_t library_ = nullptr;
    cudaKernel_t kernel_ = nullptr;
};

struct ends {
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> with_the_error{0};
    std::atomic<std::size_t> otherwise{0};
};

template <class Begin>
weir::task<> note(Begin begin, ends& to) {
    ++to.begun;
    try {
        co_await begin();
        ++to.otherwise;
    } catch (const weir::cuda::error& e) {
        ++(e.sticky() ? to.with_the_error : to.otherwise);
    }
}

weir::task<> block_of(weir::cuda::pinned_pool& pool) {
    const weir::cuda::lease block = co_await pool.acquire(pool.block_bytes());
}

// Those who wait by one context.
class crowd {
  public:
    explicit crowd(completion_by how) : gpu({.how = how}) {}

    void begin(const kernel& work) {
        work.launch(s.get(), 2'000'000'000, 0);
        std::optional<weir::cuda::lease> block = pool.try_acquire(pool.block_bytes());
        block->return_after(s);
        s.record(e);
        thread = std::thread([this] {
            std::vector<weir::task<>> all;
            for (std::size_t i = 0; i < each; ++i) {
                all.push_back(note([this] { return s.done(); }, seen));
                all.push_back(note([this] { return e.done(); }, seen));
                all.push_back(note([this] { return copy(s, there.get(), from.get(), 4096); }, seen));
                all.push_back(note([this] { return block_of(pool); }, seen));
            }
            weir::sync_wait(workers, weir::when_all(std::move(all)));
        });
        while (seen.begun < 4 * each) std::this_thread::yield();
    }

    static constexpr std::size_t each = 16;
    context gpu;
    weir::thread_pool workers{2};
    weir::cuda::pinned_pool pool{gpu, 4096, 1};
    stream s{gpu};
    weir::cuda::event e{gpu};
    on_device there{4096};
    page_locked from{4096};
    ends seen;
    std::thread thread;
};

}  // namespace

TEST_CASE("when the device breaks, all who wait for it are told, and everything ends", "[.][breaks]") {
    const kernel work;
    auto polled = std::make_unique<crowd>(completion_by::polling);
    auto told = std::make_unique<crowd>(completion_by::host_function);
    const stream breaks(polled->gpu);
    polled->begin(work);
    told->begin(work);

    work.launch(breaks.get(), 0, 16);
    for (crowd* each : {polled.get(), told.get()}) {
        each->thread.join();
        CHECK(each->seen.with_the_error == 4 * crowd::each);
        CHECK(each->seen.otherwise == 0);
        CHECK(weir::cuda::is_sticky(each->gpu.status()));
        CHECK_THROWS_AS(weir::sync_wait(each->s.done()), weir::cuda::error);
        CHECK_THROWS_AS(weir::cuda::stream(each->gpu), weir::cuda::error);
        CHECK_THROWS_AS(weir::sync_wait(each->pool.acquire(4096)), weir::cuda::error);
        CHECK_THROWS_AS(weir::cuda::to_device(each->gpu, each->pool), weir::cuda::error);
    }
    CHECK(polled->gpu.status() == told->gpu.status());
    polled.reset();
    told.reset();
}

#else

TEST_CASE("the device is not broken: this toolkit has no kernels without nvcc", "[.][breaks]") { SUCCEED(); }

#endif
