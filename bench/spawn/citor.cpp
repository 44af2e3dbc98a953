// citor: fork-join of functions, on deques with stealing. The calling thread is one of the workers.
#include <citor/thread_pool.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <semaphore>
#include <thread>

#include "scenario.hpp"

namespace spawn {
namespace {

using citor::ThreadPool;
using hints = citor::CcdLocalForkJoinHints;

std::uint64_t fib(ThreadPool& pool, std::uint64_t n) {
    if (n < 2) return n;
    std::uint64_t a = 0, b = 0;
    pool.forkJoin<hints>([&] { a = fib(pool, n - 1); }, [&] { b = fib(pool, n - 2); });
    return a + b;
}

std::uint64_t sum_leaves(ThreadPool& pool, std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    const std::uint64_t each = leaves / fan_out;
    std::array<std::uint64_t, fan_out> sums{};
    pool.forkJoinAll<hints>(fan_out,
                            [&](std::size_t i) { sums[i] = sum_leaves(pool, first + i * each, each); });
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// A pool binds the thread that makes it to a core, and threads started there inherit that. So the pool is made on its
// own thread.
class place {
  public:
    explicit place(unsigned workers) : thread_([this, workers] { serve(workers); }) {}
    ~place() {
        work_ = nullptr;
        start_.release();
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    void run(std::function<void(ThreadPool&)> work) {
        work_ = std::move(work);
        start_.release();
        over_.acquire();
    }
    bench::tally tally;

  private:
    void serve(unsigned workers) {
        ThreadPool pool(workers);
        bench::check(pool.participants() == workers, "citor has as many workers as asked for");
        for (start_.acquire(); work_; start_.acquire()) {
            work_(pool);
            over_.release();
        }
    }

    std::function<void(ThreadPool&)> work_;
    std::binary_semaphore start_{0};
    std::binary_semaphore over_{0};
    std::jthread thread_;
};

std::uint64_t once(ThreadPool& pool, bench::tally& tally, const scenario& s) {
    if (s.what == shape::fork_join) return fib(pool, s.size);
    if (s.what == shape::skynet) return sum_leaves(pool, 0, s.size);
    // A range, whose length it knows before it begins.
    pool.forkJoinAll<hints>(s.size, [&tally](std::size_t) { tally.count(); });
    return tally.take();
}

const bench::contestants<scenario> citor_tasks([](bench::group& group, const scenario& s) {
    if (s.what == shape::outside) return;  // not supported
    const auto here = std::make_shared<place>(s.workers);
    const bool tree = s.what == shape::fork_join || s.what == shape::skynet;
    group.peer(tree ? "citor, forkJoin" : "citor, forkJoinAll in batches", [here, s](std::uint64_t n) {
        here->run([&](ThreadPool& pool) { repeat(s, [&] { return once(pool, here->tally, s); })(n); });
    });
});

}  // namespace
}  // namespace spawn
