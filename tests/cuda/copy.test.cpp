#include <weir/cuda/copy.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <array>
#include <cstring>
#include <numeric>
#include <optional>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::copy;
using weir::cuda::piece;
using weir::cuda::stream;

namespace {

weir::task<> copied(const stream& s, void* to, const void* from, std::size_t bytes, outcome& end) {
    return note([=] { return copy(s, to, from, bytes); }, end);
}

weir::task<> all_copied(const stream& s, std::span<const piece> pieces, outcome& end) {
    return note([=] { return copy(s, pieces); }, end);
}

}  // namespace

TEST_CASE("what is copied to the device and back is the same") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::size_t n = GENERATE(0U, 1U, 1000U, 100'000U);
    const std::vector<int> before = counting_up<int>(n);
    std::vector<int> after(n);
    const on_device there(n * sizeof(int) + 1);
    outcome end;
    weir::sync_wait(copied(s, there.get(), before.data(), n * sizeof(int), end));
    weir::sync_wait(copied(s, after.data(), there.get(), n * sizeof(int), end));
    CHECK(end.resumed == 2);
    CHECK(end.code == cudaSuccess);
    CHECK(before == after);
}

TEST_CASE("many pieces are copied by one call, those of nothing left out") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::vector<int> before = counting_up<int>(64);
    std::vector<int> after(64);
    const on_device there(64 * sizeof(int));
    std::vector<piece> to;
    std::vector<piece> back;
    for (std::size_t i = 0; i < 64; i += 4) {
        to.push_back({there.at(i * sizeof(int)), &before[i], 4 * sizeof(int)});
        to.push_back({nullptr, nullptr, 0});
        back.push_back({&after[i], there.at(i * sizeof(int)), 4 * sizeof(int)});
    }
    const std::size_t single = stand_in::calls("cudaMemcpyAsync");
    outcome end;
    weir::sync_wait(all_copied(s, to, end));
    weir::sync_wait(all_copied(s, back, end));
    CHECK(end.resumed == 2);
    CHECK(end.code == cudaSuccess);
    CHECK(before == after);
    CHECK(stand_in::calls("cudaMemcpyBatchAsync") == 2);
    CHECK(stand_in::calls("cudaMemcpyAsync") == single);
}

TEST_CASE("no pieces, or only such of nothing, are copied at once") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::array<piece, 2> nothing{{{nullptr, nullptr, 0}, {nullptr, nullptr, 0}}};
    outcome end;
    weir::sync_wait(all_copied(s, {}, end));
    weir::sync_wait(all_copied(s, nothing, end));
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("on the default stream, which takes no batches, the pieces are copied one by one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu, cudaStream_t(nullptr));
    const std::array<int, 2> before{1, 2};
    const on_device there(2 * sizeof(int));
    const std::array<piece, 2> pieces{
        {{there.get(), before.data(), sizeof(int)}, {there.at(sizeof(int)), &before[1], sizeof(int)}}};
    outcome end;
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaSuccess);
    CHECK(stand_in::calls("cudaMemcpyBatchAsync") == 0);
    CHECK(std::memcmp(there.get(), before.data(), sizeof(before)) == 0);
}

TEST_CASE("where the driver is older than the call for many pieces, they are copied one by one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::array<int, 2> before{1, 2};
    const on_device there(2 * sizeof(int));
    const std::array<piece, 2> pieces{
        {{there.get(), before.data(), sizeof(int)}, {there.at(sizeof(int)), &before[1], sizeof(int)}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorCallRequiresNewerDriver);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaSuccess);
    CHECK(stand_in::calls("cudaMemcpyAsync") == 2);
    CHECK(std::memcmp(there.get(), before.data(), sizeof(before)) == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a copy that the runtime refuses is an error at once, with its call, and harms nothing else") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(16);
    const int value = 7;
    outcome end;
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorInvalidValue);
    weir::sync_wait(copied(s, there.get(), &value, sizeof(value), end));
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaErrorInvalidValue);
    CHECK(end.call == "cudaMemcpyAsync");
    CHECK(gpu.status() == cudaSuccess);
    weir::sync_wait(copied(s, there.get(), &value, sizeof(value), end));
    CHECK(end.code == cudaSuccess);
    CHECK(std::memcmp(there.get(), &value, sizeof(value)) == 0);
}

TEST_CASE("pieces that the runtime refuses are an error, with its call") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(16);
    const int value = 7;
    const std::array<piece, 1> pieces{{{there.get(), &value, sizeof(value)}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorInvalidValue);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaErrorInvalidValue);
    CHECK(end.call == "cudaMemcpyBatchAsync");
}

TEST_CASE("whatever call fails, a copy ends once; and where it failed, the memory is free to be used again") {
    const auto options = either_way();
    const bool page_locked = GENERATE(true, false);
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        const stream s(gpu);
        weir::cuda::pinned_pool pool(gpu, 64, 1);
        std::array<std::byte, 64> ordinary{};
        void* there = nullptr;
        REQUIRE(cudaMalloc(&there, 64) == cudaSuccess);
        const std::array<char, 64> text{"the bytes that are copied to the device"};
        weir::cuda::lease block = *pool.try_acquire(64);
        std::byte* const from = page_locked ? block.bytes().data() : ordinary.data();
        std::memcpy(from, text.data(), text.size());
        outcome end;
        stand_in::fail_call(n, cudaErrorMemoryAllocation);
        weir::sync_wait(copied(s, there, from, 64, end));
        reached = stand_in::forget_faults() == 0;
        CHECK(end.resumed == 1);
        std::memset(from, 0, 64);  // nothing reads it any more
        stand_in::wait_until_idle();
        const bool all = std::memcmp(there, text.data(), 64) == 0;
        const bool none = *static_cast<std::byte*>(there) == stand_in::never_written;
        CHECK((all || (none && end.code != cudaSuccess)));
        CHECK(cudaFree(there) == cudaSuccess);
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a copy from or to ordinary memory, which blocks, leaves its worker to others") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    const on_device there(64);
    std::array<std::byte, 64> ordinary{};
    const std::array<piece, 1> pieces{{{ordinary.data(), there.get(), 64}}};
    const bool many = GENERATE(false, true);
    stand_in::hold(s.get());
    REQUIRE(cudaMemsetAsync(there.get(), 7, 64, s.get()) == cudaSuccess);
    std::array<outcome, 3> ends;  // each of them blocks until the stream goes on
    weir::task_group group(home);
    for (outcome& end : ends) {
        if (many) {
            group.spawn(all_copied(s, pieces, end));
        } else {
            group.spawn(copied(s, ordinary.data(), there.get(), 64, end));
        }
    }
    group.spawn([](cudaStream_t held) -> weir::task<> {
        stand_in::release(held);
        co_return;
    }(s.get()));
    weir::sync_wait(group.join());
    for (const outcome& end : ends) CHECK(end.code == cudaSuccess);
    CHECK(ordinary[63] == std::byte{7});
}

TEST_CASE("a context that ends waits for copies that block") {
    const fresh_runtime runtime;
    weir::thread_pool home(1);
    std::array<std::byte, 64> ordinary{};
    outcome end;
    weir::task_group group(home);
    cudaStream_t held = nullptr;
    {
        context gpu(either_way());
        const stream s(gpu);
        held = s.get();
        const on_device there(64);
        stand_in::hold(held);
        const std::size_t before = stand_in::calls("cudaMemcpyAsync");
        group.spawn(copied(s, ordinary.data(), there.get(), 64, end));
        wait_for([&] { return stand_in::calls("cudaMemcpyAsync") > before; });
        CHECK(end.resumed == 0);
        stand_in::release(held);
        stand_in::wait_until_idle();  // the memory goes before the context
    }
    weir::sync_wait(group.join());
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a copy of ordinary memory that fails says so when it is awaited, with its call and stage") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(64);
    const std::array<std::byte, 64> ordinary{};
    const std::array<piece, 1> pieces{{{there.get(), ordinary.data(), 64}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorMemoryAllocation);
    weir::sync_wait(copied(s, there.get(), ordinary.data(), 64, end));
    CHECK(end.code == cudaErrorMemoryAllocation);
    CHECK(end.call == "cudaMemcpyAsync");
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorMemoryAllocation);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.call == "cudaMemcpyBatchAsync");
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorLaunchFailure, true);
    weir::sync_wait(copied(s, there.get(), ordinary.data(), 64, end));
    CHECK(end.code == cudaErrorLaunchFailure);
    CHECK(end.resumed == 3);
    CHECK(gpu.status() == cudaErrorLaunchFailure);
}

TEST_CASE("a copy of ordinary memory whose context is gone says so") {
    const fresh_runtime runtime;
    std::optional<context> gpu(std::in_place);
    const stream s(*gpu);
    const on_device there(64);
    const std::array<std::byte, 64> ordinary{};
    gpu.reset();
    CHECK_THROWS_WITH(weir::sync_wait(copy(s, there.get(), ordinary.data(), 64)),
                      Catch::Matchers::ContainsSubstring(
                          "the weir::cuda::context of this stream was destroyed"));
}

TEST_CASE("without a device a copy is done by the host, at once") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        const stream s(gpu);
        const std::array<int, 2> before{1, 2};
        std::array<int, 2> after{};
        outcome end;
        weir::sync_wait(copied(s, after.data(), before.data(), sizeof(before), end));
        CHECK(after == before);
        const std::array<piece, 2> pieces{{{after.data(), &before[1], sizeof(int)}, {nullptr, nullptr, 0}}};
        weir::sync_wait(all_copied(s, pieces, end));
        CHECK(after[0] == 2);
        CHECK(end.resumed == 2);
    }
    stand_in::reset();
}
