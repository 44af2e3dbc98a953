#include <weir/cuda/copier.hpp>

#include "cuda/support.hpp"
#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::item_order;
namespace inside = weir::cuda::detail;

namespace {

// Tells the order in which it was asked for memory, by how much.
class asked final : public weir::cuda::device_allocator {
  public:
    void* allocate(std::size_t bytes, cudaStream_t) override {
        in_order.push_back(bytes);
        void* memory = nullptr;
        return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
    }
    void free(void* memory, std::size_t, cudaStream_t) noexcept override {
        static_cast<void>(cudaFree(memory));
    }
    std::vector<std::size_t> in_order;
};

}  // namespace

TEST_CASE("memory is taken in the order of the items, also by calls that come in another order") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    asked from;
    const auto account = std::make_shared<inside::device_account>(gpu.shared(), &from, 0, "memory");
    inside::copier all(gpu, inside::copier::settings{&pool, 1, true, true, std::nullopt, account});
    const std::string name = "copies";
    const auto send = [&](std::uint64_t number) -> weir::task<> {
        const std::vector<char> batch(number + 1, 'x');
        const inside::host_part part(batch.data(), batch.size(), 0);
        const weir::invocation call(name, number, 0, 0, weir::stop_token());
        item_order::place mine(all.order, number);
        const auto there = co_await inside::send_ranges(all, mine, std::span(&part, 1), call);
        CHECK(there->bytes() == number + 1);
    };
    weir::sync_wait(
        [](auto& each) -> weir::task<> { co_await weir::when_all(each(2), each(0), each(1)); }(send));
    CHECK(from.in_order == std::vector<std::size_t>{1, 2, 3});
    CHECK(all.log->stats().num_copies == 3);
}

namespace {

weir::task<> come(item_order& order, std::uint64_t number, weir::stop_token stop, std::vector<int>& went) {
    item_order::place mine(order, number);
    bool has_turn = mine.has_turn();
    if (!has_turn) has_turn = co_await mine.wait_for_turn(std::move(stop));
    went.push_back(has_turn ? static_cast<int>(number) : -1);
}

// What was spawned before has come to waiting, on the one thread of this pool.
void let_them_come(weir::thread_pool& home) {
    weir::sync_wait([](weir::thread_pool& on) -> weir::task<> { co_await weir::schedule(on); }(home));
}

}  // namespace

TEST_CASE("who comes too early waits for those before him, also for one that is left out") {
    item_order order;
    std::vector<int> went;
    weir::thread_pool home(1);
    weir::task_group group(home);
    group.spawn(come(order, 3, {}, went));
    group.spawn(come(order, 1, {}, went));
    let_them_come(home);
    CHECK(went.empty());
    order.leave(2);
    order.leave(0);
    weir::sync_wait(group.join());
    CHECK(went == std::vector{1, 3});
}

TEST_CASE("a wait for one's turn can be stopped, and holds up nobody") {
    item_order order;
    std::vector<int> went;
    weir::stop_source stop;
    weir::thread_pool home(1);
    weir::task_group group(home);
    group.spawn(come(order, 2, {}, went));
    group.spawn(come(order, 1, stop.get_token(), went));
    let_them_come(home);
    stop.request_stop();
    let_them_come(home);
    CHECK(went == std::vector{-1});
    order.leave(0);
    weir::sync_wait(group.join());
    CHECK(went == std::vector{-1, 2});
}
