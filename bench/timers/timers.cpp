// The cost of a timer: added and fired, added and cancelled, and on virtual time.
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "scenario.hpp"

namespace timers {
namespace {

struct place {
    explicit place(unsigned workers) : pool(workers) {}
    weir::thread_pool pool;
    bench::tally tally;
};

weir::task<> sleep(std::chrono::nanoseconds delay, bench::tally& tally) {
    const bool slept = co_await weir::sleep_for(delay);
    if (slept) tally.count();
}

weir::task<> sleep_all(const scenario& s, bench::tally& tally) {
    std::vector<weir::task<>> sleepers;
    sleepers.reserve(s.size);
    for (std::uint64_t i = 0; i < s.size; ++i) sleepers.push_back(sleep(delay(s, i), tally));
    co_await weir::when_all(std::move(sleepers));
}

struct waiting_room {
    weir::stop_source stop{};
    weir::stop_token token = stop.get_token();
    std::atomic<std::uint64_t> left;
};

// The last coroutine to sleep wakes all.
weir::task<> doze(std::chrono::nanoseconds delay, waiting_room& room, bench::tally& tally) {
    if (room.left.fetch_sub(1, std::memory_order_relaxed) == 1) room.stop.request_stop();
    const bool slept = co_await weir::sleep_for(delay, room.token);
    if (!slept) tally.count();
}

weir::task<> doze_all(const scenario& s, bench::tally& tally) {
    waiting_room room{.left = s.size};
    std::vector<weir::task<>> sleepers;
    sleepers.reserve(s.size);
    for (std::uint64_t i = 0; i < s.size; ++i) sleepers.push_back(doze(delay(s, i), room, tally));
    co_await weir::when_all(std::move(sleepers));
}

void add_weir(bench::group& group, const scenario& s) {
    if (s.what == shape::virtual_time) {
        group.ours("weir, virtual_time", repeat(s, [s, tally = std::make_shared<bench::tally>()] {
                       weir::virtual_time time;
                       weir::sync_wait(time, sleep_all(s, *tally));
                       return tally->take();
                   }));
        return;
    }
    const auto all = s.what == shape::fire ? sleep_all : doze_all;
    group.ours("weir, sleep in tasks", repeat(s, [s, all, here = std::make_shared<place>(s.workers)] {
                   weir::sync_wait(here->pool, all(s, here->tally));
                   return here->tally.take();
               }));
}

// Adds and removes timers, without sleeping coroutines.
std::uint64_t pass_through_queue(const scenario& s, std::mutex& mutex) {
    std::priority_queue<std::chrono::nanoseconds, std::vector<std::chrono::nanoseconds>, std::greater<>>
        queue;
    for (std::uint64_t i = 0; i < s.size; ++i) {
        const std::lock_guard guard(mutex);
        queue.push(delay(s, i));
    }
    std::uint64_t in_order = 0;
    for (std::chrono::nanoseconds last{0}; !queue.empty(); ++in_order) {
        const std::lock_guard guard(mutex);
        bench::check(queue.top() >= last, "timers: a priority queue out of order");
        last = queue.top();
        queue.pop();
    }
    return in_order;
}

void add_limit(bench::group& group, const scenario& s) {
    if (s.what == shape::cancel) return;
    group.limit("std::priority_queue under a mutex", repeat(s, [s, mutex = std::make_shared<std::mutex>()] {
                    return pass_through_queue(s, *mutex);
                }));
}

struct setting {
    std::string title;
    scenario what;
};

std::vector<setting> settings(bool quick) {
    const std::uint64_t many = quick ? 10'000 : 1'000'000;
    const std::string power = quick ? "10^4" : "10^6";
    return {{power + " timers of 0 to 10 ms fire, 1 worker", {shape::fire, 1, many}},
            {power + " timers of 0 to 10 ms fire, 2 workers", {shape::fire, 2, many}},
            {power + " timers of an hour are cancelled, 1 worker", {shape::cancel, 1, many}},
            {power + " timers of an hour are cancelled, 2 workers", {shape::cancel, 2, many}},
            {power + " timers fire on virtual time", {shape::virtual_time, 0, many}}};
}

}  // namespace
}  // namespace timers

int main(int argc, char** argv) {
    bench::session session("timers", argc, argv);
    for (const timers::setting& g : timers::settings(session.quick())) {
        if (!session.wants(g.title)) continue;
        bench::group group(session, g.title, "a timer");
        group.smallest(g.what.size);
        timers::add_weir(group, g.what);
        bench::contestants<timers::scenario>::join(group, g.what);
        timers::add_limit(group, g.what);
        group.run();
    }
}
