#include <weir/cuda/device_pool.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>
#include <weir/task/sync_wait.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::device_account;
using weir::cuda::detail::device_memory;
using weir::cuda::detail::transfer_log;

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

// A batch on its way to the device.
device_buffer<int> sent(const std::vector<int>& batch, pinned_pool& pool, const stream& s,
                        const std::shared_ptr<device_account>& memory,
                        const std::shared_ptr<transfer_log>& log) {
    const std::size_t bytes = batch.size() * sizeof(int);
    std::optional<device_memory> there = device_memory::try_take(memory, s, bytes, log);
    if (!there) throw weir::cuda::error(cudaErrorMemoryAllocation, "cudaMallocFromPoolAsync");
    weir::cuda::lease block = *pool.try_acquire(bytes);
    std::memcpy(block.bytes().data(), batch.data(), bytes);
    there->fill_from(block);
    return device_buffer<int>(*std::move(there));
}

struct sender {
    explicit sender(weir::cuda::context_options options) : gpu(options) {}
    context gpu;
    pinned_pool pool{gpu, 4096, 2};
    stream copies{gpu};
    std::shared_ptr<device_account> memory =
        std::make_shared<device_account>(gpu.shared(), nullptr, 0, "memory");
    std::shared_ptr<transfer_log> log = std::make_shared<transfer_log>();
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

TEST_CASE("a consumer's stream sees the whole batch, though nobody on the host waited for the copy") {
    const fresh_runtime runtime;
    sender from(either_way());
    const stream consumer(from.gpu);
    const std::vector<int> batch = counting_up<int>(1000);
    std::vector<int> seen;
    stand_in::hold(from.copies.get());
    {
        device_buffer<int> there = sent(batch, from.pool, from.copies, from.memory, from.log);
        CHECK(there.size() == 1000);
        CHECK(there.size_bytes() == 4000);
        CHECK(there.on_device());
        there.hand_over(consumer);
        REQUIRE(stand_in::launch(consumer.get(), [&seen, p = there.data()] { seen.assign(p, p + 1000); }) ==
                cudaSuccess);
    }
    CHECK(seen.empty());
    stand_in::release(from.copies.get());
    weir::sync_wait([](stream on) -> weir::task<> { co_await on.done(); }(consumer));
    CHECK(seen == batch);
}

TEST_CASE("the memory is freed behind the consumer's work, so that nothing lands in it before") {
    const fresh_runtime runtime;
    sender from(either_way());
    const stream consumer(from.gpu);
    const std::vector<int> first(100, 1);
    const std::vector<int> second(100, 2);
    std::vector<int> seen;
    {
        device_buffer<int> there = sent(first, from.pool, from.copies, from.memory, from.log);
        there.hand_over(consumer);
        stand_in::hold(consumer.get());
        REQUIRE(stand_in::launch(consumer.get(), [&seen, p = there.data()] { seen.assign(p, p + 100); }) ==
                cudaSuccess);
    }
    // More batches, while the consumer hasn't read the first one.
    for (int i = 0; i < 5; ++i) {
        const device_buffer<int> other = sent(second, from.pool, from.copies, from.memory, from.log);
        weir::sync_wait([](const device_buffer<int>& b) -> weir::task<> { co_await b.copied(); }(other));
        wait_for([&] { return from.pool.stats().size == 2; });
    }
    stand_in::release(consumer.get());
    weir::sync_wait([](stream on) -> weir::task<> { co_await on.done(); }(consumer));
    CHECK(seen == first);
}

TEST_CASE("a second consumer comes after the first, and the memory is freed behind both") {
    const fresh_runtime runtime;
    sender from(either_way());
    const stream first(from.gpu);
    const stream second(from.gpu);
    const std::vector<int> batch = counting_up<int>(100);
    std::vector<std::vector<int>> seen;
    stand_in::hold(first.get());
    {
        device_buffer<int> there = sent(batch, from.pool, from.copies, from.memory, from.log);
        for (const stream* s : {&first, &second}) {
            there.hand_over(*s);
            REQUIRE(stand_in::launch(s->get(), [&seen, p = there.data()] {
                        seen.emplace_back(p, p + 100);
                    }) == cudaSuccess);
        }
    }
    stand_in::wait_until_idle();
    CHECK(seen.empty());
    stand_in::release(first.get());
    weir::sync_wait([](stream on) -> weir::task<> { co_await on.done(); }(second));
    CHECK(seen == std::vector{batch, batch});
}

TEST_CASE("without a device a buffer lies on the host, and its copy is done") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        sender from({.or_host = true});
        device_buffer<int> there{*device_memory::try_take(from.memory, from.copies, 40, from.log)};
        CHECK_FALSE(there.on_device());
        there.hand_over(from.copies);
        weir::sync_wait([](const device_buffer<int>& b) -> weir::task<> { co_await b.copied(); }(there));
        CHECK(there.size() == 10);
    }
    stand_in::reset();
}

TEST_CASE("a buffer that nobody takes over is freed behind its copy") {
    const fresh_runtime runtime;
    sender from(either_way());
    stand_in::hold(from.copies.get());
    static_cast<void>(sent(counting_up<int>(10), from.pool, from.copies, from.memory, from.log));
    stand_in::release(from.copies.get());
}

TEST_CASE("a buffer outlives its pool, its stream and its context") {
    const fresh_runtime runtime;
    std::optional<device_buffer<int>> left;
    {
        sender from(either_way());
        left = sent(counting_up<int>(10), from.pool, from.copies, from.memory, from.log);
    }
    CHECK(left->size() == 10);
}

TEST_CASE("who waits for the copy goes on when it is done") {
    const fresh_runtime runtime;
    sender from(either_way());
    const std::vector<int> batch = counting_up<int>(10);
    const device_buffer<int> there = sent(batch, from.pool, from.copies, from.memory, from.log);
    weir::sync_wait([](const device_buffer<int>& b) -> weir::task<> { co_await b.copied(); }(there));
    CHECK(std::memcmp(there.data(), batch.data(), there.size_bytes()) == 0);
}

TEST_CASE("whatever call fails on the way of a batch, nothing is lost, doubled or read too late") {
    const auto options = either_way();
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        sender from(options);
        const stream consumer(from.gpu);
        const std::vector<int> batch = counting_up<int>(100);
        std::vector<int> seen = batch;
        stand_in::fail_call(n, cudaErrorMemoryAllocation);
        try {
            device_buffer<int> there = sent(batch, from.pool, from.copies, from.memory, from.log);
            there.hand_over(consumer);
            static_cast<void>(
                stand_in::launch(consumer.get(), [&seen, p = there.data()] { seen.assign(p, p + 100); }));
        } catch (const weir::cuda::error& e) {
            CHECK(e.status() == cudaErrorMemoryAllocation);
        }
        wait_for([&] { return from.pool.stats().size == 2; });
        stand_in::wait_until_idle();
        reached = stand_in::forget_faults() == 0;
        CHECK(seen == batch);
        CHECK(from.pool.stats().num_put == from.pool.stats().num_get + 2);
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a buffer of nothing has no elements, of whatever size they are") {
    const fresh_runtime runtime;
    sender from(either_way());
    const device_buffer<char> none{*device_memory::try_take(from.memory, from.copies, 0, from.log)};
    CHECK(none.size() == 0);
    CHECK(none.data() != nullptr);
}

TEST_CASE("a buffer that was moved away is empty, and what needs its memory is refused") {
    const fresh_runtime runtime;
    context gpu(either_way());
    stream s(gpu);
    device_pool memory(gpu);
    device_buffer<int> first = weir::sync_wait(memory.acquire<int>(10, s));
    const device_buffer<int> second = std::move(first);
    CHECK(second.size() == 10);
    CHECK(first.size() == 0);
    CHECK(first.data() == nullptr);
    CHECK_FALSE(first.on_device());
    const auto refusal = Catch::Matchers::ContainsSubstring("was moved away has no memory");
    CHECK_THROWS_WITH(first.hand_over(s), refusal);
    CHECK_THROWS_WITH(first.copied(), refusal);

    using both = weir::cuda::device_buffers<char, int>;
    const auto made = [&](std::size_t n) {
        const std::array<std::size_t, 2> sizes{3, n};
        return both(weir::sync_wait(memory.acquire<std::byte>(256 + 4 * n, s)).release(), sizes);
    };
    both few = made(1);
    both many = made(100);
    few = std::move(many);
    CHECK(std::get<1>(few.parts()).size() == 100);
    CHECK(std::get<1>(many.parts()).size() == 1);  // not 100, which would be more than its memory has
    const both last = std::move(many);
    CHECK(std::get<1>(many.parts()).empty());
    CHECK(many.sizes()[1] == 0);
    CHECK(many.size_bytes() == 0);
}
