// The time from the end of a copy to the resumption of the waiting coroutine.
//
// The awaited copy brings four bytes from the device into page-locked memory, behind a large copy in the same
// stream. A thread with its own core reads these bytes continuously, and so sees when they arrive.
#include "cores.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench_cuda {
namespace {

// Records when the word gets each of the numbers from 1 on.
class witness {
    // Maximum time between two reads: after a longer one the thread was interrupted, and the time of arrival is unknown.
    static constexpr double longest_gap = 2e-6;

  public:
    witness(const std::uint32_t* word, int core, std::size_t most) : seen_(most) {
        thread_ = std::jthread([this, word, core] {
            stay_on({core});
            for (std::size_t i = 0; i < seen_.size(); ++i) {
                double previous = 0;  // time of the previous read
                double look = 0;
                do {
                    if (over_.load(std::memory_order_relaxed)) return end();
                    previous = look;
                    look = bench::seconds_now();
                } while (__atomic_load_n(word, __ATOMIC_ACQUIRE) <= i);
                const double now = bench::seconds_now();
                if (now - previous < longest_gap) seen_[i] = now;
                num_seen_.store(i + 1, std::memory_order_release);
            }
            end();
        });
    }
    witness(const witness&) = delete;
    witness& operator=(const witness&) = delete;
    ~witness() { over_.store(true, std::memory_order_relaxed); }

    // Waits until it has seen this many numbers.
    void join_after(std::size_t numbers) {
        while (num_seen_.load(std::memory_order_acquire) < numbers) std::this_thread::yield();
        over_.store(true, std::memory_order_relaxed);
        thread_.join();
    }
    // 0: unknown.
    const std::vector<double>& seen() const { return seen_; }
    double cpu() const { return cpu_; }  // seconds

  private:
    void end() {
        timespec t{};
        static_cast<void>(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
        cpu_ = static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
    }

    std::vector<double> seen_;
    double cpu_ = 0;
    std::atomic<std::size_t> num_seen_{0};
    std::atomic<bool> over_{false};
    std::jthread thread_;
};

constexpr std::size_t most = 1000;                      // maximum number of copies in a run
constexpr std::size_t largest = std::size_t{32} << 20;  // bytes of the large copy
constexpr std::size_t sizes[] = {std::size_t{1} << 20, largest};
constexpr double goal = 5;  // us from the end to the resumption, median, idle machine

// The copies, and the time at which the end of each was known.
struct scene {
    scene() {
        std::vector<std::uint32_t> numbers(most);
        std::iota(numbers.begin(), numbers.end(), 1);
        must(cudaMemcpy(words.get(), numbers.data(), most * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
             "cudaMemcpy");
    }
    std::uint32_t* word() const { return reinterpret_cast<std::uint32_t*>(arrived.get()); }
    const std::byte* number(std::size_t i) const { return words.get() + i * sizeof(std::uint32_t); }
    void queue_copy_before(cudaStream_t s) const {
        must(cudaMemcpyAsync(there.get(), from.get(), before, cudaMemcpyHostToDevice, s), "cudaMemcpyAsync");
    }
    // False if there are enough.
    bool resumed() {
        const double now = bench::seconds_now();
        known.push_back(now);
        return known.size() < wanted && now < deadline;
    }

    pinned_memory from{largest};
    device_memory there{largest};
    device_memory words{most * sizeof(std::uint32_t)};
    pinned_memory arrived{64};
    std::size_t before = 0;
    std::size_t wanted = 0;
    double deadline = 0;
    std::vector<double> known;
};

weir::task<> awaited(weir::cuda::stream s, scene& what) {
    for (std::size_t i = 0; i < most; ++i) {
        what.queue_copy_before(s.get());
        co_await weir::cuda::copy(s, what.word(), what.number(i), sizeof(std::uint32_t));
        if (!what.resumed()) break;
    }
}

void queue_number(const scene& what, cudaStream_t s, std::size_t i) {
    what.queue_copy_before(s);
    must(cudaMemcpyAsync(what.word(), what.number(i), sizeof(std::uint32_t), cudaMemcpyDeviceToHost, s),
         "cudaMemcpyAsync");
}

// A thread that waits in the runtime.
template <class Wait>
void in_a_thread(scene& what, cudaStream_t s, Wait&& wait) {
    std::string error;
    std::jthread([&] {
        try {
            for (std::size_t i = 0; i < most; ++i) {
                queue_number(what, s, i);
                wait(s);
                if (!what.resumed()) break;
            }
        } catch (const std::exception& e) {
            error = e.what();
        }
    }).join();
    if (!error.empty()) throw std::runtime_error(error);
}

struct contestant {
    std::string name;
    std::function<void()> run;
    std::vector<double> us = {};     // of each copy whose end was seen
    std::size_t unseen = 0;          // number of other copies
    std::vector<double> cores = {};  // of each run, without the reading thread
};

// Everything that waits for the device, on the cores that it may use.
class waiters {
  public:
    explicit waiters(scene& what) : what_(what) {
        add("polling", {});
        add("polling, spins for 100 us", {.spin = std::chrono::microseconds(100)});
        add("polling, once in 20 us", {.period = std::chrono::microseconds(20)});
        add("polling, never sleeps", {.spin = std::chrono::seconds(1)});
        add("host_function", {.how = weir::cuda::completion_by::host_function});
        must(cudaStreamCreateWithFlags(&plain_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        must(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync),
             "cudaEventCreateWithFlags");
        all.push_back({"(cudaStreamSynchronize)", [this] {
                           in_a_thread(what_, plain_, [](cudaStream_t s) {
                               must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
                           });
                       }});
        all.push_back({"(cudaEventBlockingSync)", [this] {
                           in_a_thread(what_, plain_, [this](cudaStream_t s) {
                               must(cudaEventRecord(event_, s), "cudaEventRecord");
                               must(cudaEventSynchronize(event_), "cudaEventSynchronize");
                           });
                       }});
    }
    waiters(const waiters&) = delete;
    waiters& operator=(const waiters&) = delete;
    ~waiters() {
        static_cast<void>(cudaEventDestroy(event_));
        static_cast<void>(cudaStreamDestroy(plain_));
    }

    std::vector<contestant> all;

  private:
    void add(std::string name, weir::cuda::context_options options) {
        const auto gpu = std::make_shared<weir::cuda::context>(weir::cuda::device(0), options);
        const auto s = std::make_shared<weir::cuda::stream>(*gpu);
        all.push_back({std::move(name), [this, gpu, s] { weir::sync_wait(pool_, awaited(*s, what_)); }});
    }

    scene& what_;
    weir::thread_pool pool_{1};
    cudaStream_t plain_ = nullptr;
    cudaEvent_t event_ = nullptr;
};

void run_once(contestant& who, scene& what, int core, std::size_t wanted, double seconds) {
    what.known.clear();
    what.known.reserve(most);
    what.wanted = wanted;
    what.deadline = bench::seconds_now() + seconds;
    __atomic_store_n(what.word(), 0, __ATOMIC_RELEASE);
    witness sees(what.word(), core, wanted);
    const double cpu = bench::cpu_seconds();
    const double start = bench::seconds_now();
    who.run();
    const double wall = bench::seconds_now() - start;
    const double used = bench::cpu_seconds() - cpu;
    // The last number has arrived, but the reading thread may not have read it yet.
    sees.join_after(what.known.size());
    for (std::size_t i = 0; i < what.known.size(); ++i) {
        if (sees.seen()[i] == 0) {
            ++who.unseen;
        } else {
            who.us.push_back((what.known[i] - sees.seen()[i]) * 1e6);
        }
    }
    who.cores.push_back((used - sees.cpu()) / wall);
}

void measure(bench::session& session, const std::string& title, waiters& waiting, scene& what, int core,
             bool idle) {
    if (!session.wants(title)) return;
    for (contestant& c : waiting.all) {
        c.us.clear();
        c.unseen = 0;
        c.cores.clear();
    }
    const std::size_t wanted = session.quick() ? 50 : most;
    for (int round = 0; round < 3; ++round) {
        for (contestant& c : waiting.all) run_once(c, what, core, wanted, session.quick() ? 0.3 : 1.0);
    }
    std::vector<std::string> columns{"p50 us", "p99 us", "max us", "copies", "end unseen"};
    if (idle) columns.push_back("cores");
    table out(session, title, "who waits", columns);
    for (const contestant& c : waiting.all) {
        std::vector<double> line{quantile(c.us, 0.5), quantile(c.us, 0.99), quantile(c.us, 1),
                                 static_cast<double>(c.us.size()), static_cast<double>(c.unseen)};
        if (idle) line.push_back(median(c.cores));
        // Only copies whose arrival the reading thread saw are counted.
        const bool has_goal = idle && &c == &waiting.all[0];
        out.line(c.name, line,
                 c.us.size() < c.unseen ? "NOT RELIABLE: the ends of too few copies were seen"
                 : has_goal             ? against(goal, line[0])
                                        : "");
    }
}

// The threads of a context and a pool while nothing is pending.
void cost_at_rest(bench::session& session) {
    const std::string title = "latency, cost while nothing is pending";
    if (!session.wants(title)) return;
    weir::cuda::context gpu{weir::cuda::device(0)};
    const weir::cuda::stream s(gpu);
    weir::thread_pool pool;
    const auto once = [](weir::cuda::stream on) -> weir::task<> { co_await on.done(); };
    weir::sync_wait(pool, once(s));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double cpu = bench::cpu_seconds();
    const double start = bench::seconds_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(session.quick() ? 100 : 3000));
    const double cores = (bench::cpu_seconds() - cpu) / (bench::seconds_now() - start);
    table out(session, title, "", {"cores"});
    out.line("a context and a pool", {cores}, against(0.01, cores));
}

}  // namespace

void latency(bench::session& session) {
    cost_at_rest(session);
    const auto title = [](std::size_t before, bool idle) {
        return "latency, end of a copy to resumption, behind a copy of " + bytes_text(before) + ", " +
               (idle ? "idle machine" : "all cores busy");
    };
    bool wanted = false;
    for (const std::size_t before : sizes) {
        wanted = wanted || session.wants(title(before, true)) || session.wants(title(before, false));
    }
    if (!wanted) return;
    std::vector<int> cores = cores_of_process();
    if (cores.size() < 2) {
        note(session, "Latency was not measured: it needs two cores, one of them to see when a copy ends.");
        return;
    }
    const int core = cores.back();
    cores.pop_back();
    const restricted_to rest(cores);
    note(session,
         "One core sees when the bytes are there, and is not among those that are busy. Cores: in use "
         "beside that one. In brackets: a thread that waits in the runtime.");
    scene what;
    waiters waiting(what);
    for (const std::size_t before : sizes) {
        what.before = before;
        measure(session, title(before, true), waiting, what, core, true);
        if (!session.wants(title(before, false))) continue;
        const other_work busy(cores);
        measure(session, title(before, false), waiting, what, core, false);
    }
}

}  // namespace bench_cuda
