// The time of an item and its answer between two coroutines that do nothing else.
#include "scenario.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <memory>

namespace {

template <class Policy>
using channel = weir::channel<std::uint64_t, Policy>;

template <class Policy>
weir::task<> ping(channel<Policy>& there, channel<Policy>& back, std::uint64_t n, std::uint64_t& sum) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await there.put(i);
        const auto number = co_await back.get();
        sum += *number;
    }
}

template <class Policy>
weir::task<> pong(channel<Policy>& there, channel<Policy>& back, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        const auto number = co_await there.get();
        co_await back.put(*number + 1);
    }
}

template <class Policy>
void play(weir::thread_pool& pool, std::uint64_t n) {
    channel<Policy> there(1, pool);
    channel<Policy> back(1, pool);
    std::uint64_t sum = 0;
    weir::sync_wait(pool, weir::when_all(ping(there, back, n, sum), pong(there, back, n)));
    check_replies(sum, n);
}

void run(bench::session& session, unsigned workers) {
    bench::group group(session, bench::count(workers, "worker"), "a round trip");
    const auto pool = std::make_shared<weir::thread_pool>(workers);
    group.ours("weir", [pool](std::uint64_t n) { play<weir::unmeasured>(*pool, n); });
    group.ours("weir, measured", [pool](std::uint64_t n) { play<weir::measured>(*pool, n); });
    bench::contestants<scenario>::join(group, scenario{workers});
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("pingpong", argc, argv);
    for (const unsigned workers : session.workers()) run(session, workers);
}
