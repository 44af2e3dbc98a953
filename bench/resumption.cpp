// From the end of work on a device to the resumption of the coroutine that waits for it: hand-overs to other threads,
// wake-ups, and time. Without a GPU: tests/cuda/stand_in stands for the device, with work of real length. The numbers of
// hand-overs and of wake-ups are those of a GPU; the times are not. `bench/run cuda` measures on a GPU.
//
//     bench/run resumption [--json] [--quick] [PART OF A TITLE]
#include "common/harness.hpp"
#include "cuda/stand_in/control.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using weir::detail::standard_platform;

// The last query that said that the work is done.
struct sighting {
    std::thread::id by;
    std::uint32_t wakes = 0;          // by that thread until then
    std::uint32_t wakes_between = 0;  // by that thread since the sighting before
};
std::mutex lock;
sighting last;
std::atomic<double> ended{0};

void see() {
    const std::scoped_lock held(lock);
    const std::uint32_t wakes = standard_platform::num_wakes();
    last.wakes_between = last.by == std::this_thread::get_id() ? wakes - last.wakes : 0;
    last.by = std::this_thread::get_id();
    last.wakes = wakes;
}

struct figures {
    double hand_overs = 0;
    double wakes = 0;
    std::vector<double> us;
};

weir::task<> works(weir::cuda::stream s, std::chrono::microseconds length, int times, figures& found) {
    for (int i = 0; i < times; ++i) {
        static_cast<void>(stand_in::launch(s.get(), [] {}, length));
        static_cast<void>(stand_in::launch(s.get(), [] { ended = bench::seconds_now(); }));
        co_await s.done();
        const double now = bench::seconds_now();
        const std::scoped_lock held(lock);
        if (last.by == std::this_thread::get_id()) {
            found.wakes += standard_platform::num_wakes() - last.wakes;
        } else {
            found.hand_overs += 1;
            found.wakes += last.wakes_between;
        }
        found.us.push_back((now - ended) * 1e6);
    }
}

double quantile(std::vector<double> of, double part) {
    std::sort(of.begin(), of.end());
    return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1))];
}

template <class Executor>
void measure(bench::session& session, const std::string& who, Executor& on,
             std::chrono::microseconds length) {
    const std::string title = who + ", work of " + std::to_string(length.count()) + " us: ";
    if (!session.wants(title)) return;
    weir::cuda::context gpu;
    const weir::cuda::stream s(gpu);
    const int times = session.quick() ? 20 : 1000;
    figures warm, found;
    weir::sync_wait(on, works(s, length, 20, warm));
    const double cpu = bench::cpu_seconds();
    const double start = bench::seconds_now();
    weir::sync_wait(on, works(s, length, times, found));
    const double cores = (bench::cpu_seconds() - cpu) / (bench::seconds_now() - start);
    session.value(title + "hand-overs", found.hand_overs / times, "each");
    session.value(title + "wake-ups", found.wakes / times, "each");
    session.value(title + "median", quantile(found.us, 0.5), "us");
    session.value(title + "p99", quantile(found.us, 0.99), "us");
    session.value(title + "cores, with the stand-in's", cores, "");
}

void idle(bench::session& session) {
    weir::cuda::context gpu;
    weir::thread_pool pool(1);
    const weir::cuda::stream s(gpu);
    const auto one = [&]() -> weir::task<> { co_await s.done(); };
    weir::sync_wait(pool, one());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double cpu = bench::cpu_seconds();
    const double start = bench::seconds_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(session.quick() ? 50 : 2000));
    const double share = (bench::cpu_seconds() - cpu) / (bench::seconds_now() - start);
    session.value("nothing pending: cores in use", share, "");
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("resumption", argc, argv);
    stand_in::set_model({1e9, std::chrono::nanoseconds(0), stand_in::pace::in_real_time});
    stand_in::when_an_end_is_seen(see);
    // About as long as copies of 1 and of 32 MiB over PCIe 5.
    for (const std::chrono::microseconds length :
         {std::chrono::microseconds(20), std::chrono::microseconds(640)}) {
        for (const unsigned workers : {1U, 2U}) {
            weir::thread_pool pool(workers);
            measure(session, "pool of " + std::to_string(workers), pool, length);
        }
        weir::run_loop loop;
        measure(session, "event loop", loop, length);
    }
    idle(session);
    stand_in::when_an_end_is_seen(nullptr);
}
