#include <weir/cuda/item_order.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <vector>

using weir::cuda::detail::item_order;

namespace {

weir::task<> come(item_order& order, std::uint64_t number, weir::stop_token stop, std::vector<int>& went) {
    item_order::place mine(order, number);
    bool goes = mine.is_first();
    if (!goes) goes = co_await mine.first(std::move(stop));
    went.push_back(goes ? static_cast<int>(number) : -1);
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
