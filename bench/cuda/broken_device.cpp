// The device breaks while coroutines wait: all of them must get the error, and none may wait for ever.
#include "measure.hpp"
#include "parts.hpp"

#if defined(BENCH_CUDA_KERNELS)

#include "kernels.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench_cuda {
namespace {

constexpr std::size_t each = 16;                     // waiters of each kind
constexpr unsigned long long a_second = 1000000000;  // longer than the device works
constexpr unsigned long long before_it_breaks = 50000000;

struct outcome {
    const char* waited_for;
    double resumed = 0;
    cudaError_t code = cudaSuccess;
    std::string said = {};
};

weir::task<> note_end(weir::task<> what, outcome& end, std::atomic<std::size_t>& waiting) {
    ++waiting;
    try {
        co_await std::move(what);
    } catch (const weir::cuda::error& e) {
        end.code = e.status();
        end.said = e.what();
    }
    end.resumed = bench::seconds_now();
}

weir::task<> all_done(weir::cuda::stream s) { co_await s.done(); }
weir::task<> event_done(weir::cuda::event e) { co_await e.done(); }
weir::task<> copied(weir::cuda::stream s, void* to, const void* from, std::size_t bytes) {
    co_await weir::cuda::copy(s, to, from, bytes);
}
weir::task<> block_free(weir::cuda::pinned_pool& pool) {
    const weir::cuda::lease block = co_await pool.acquire(pool.block_bytes());
}

// The coroutines that wait with one context.
class crowd {
  public:
    explicit crowd(weir::cuda::completion_by how) : gpu_(weir::cuda::device(0), {.how = how}) {
        for (std::size_t i = 0; i < each; ++i) {
            for (const char* what : {"stream::done", "event::done", "copy", "pinned_pool::acquire"}) {
                ends_.push_back(std::make_unique<outcome>(outcome{what}));
            }
        }
    }

    // Returns when all of them wait.
    void begin() {
        for (std::size_t i = 0; i < num_streams; ++i) {
            streams_.emplace_back(gpu_);
            must(launch_spin(streams_.back().get(), a_second), "the kernel that spins");
        }
        std::optional<weir::cuda::lease> block = pool_.try_acquire(bytes);
        block->return_after(streams_.front());
        std::vector<weir::task<>> all;
        for (std::size_t i = 0; i < each; ++i) {
            const weir::cuda::stream& s = streams_[i % num_streams];
            weir::cuda::event e(gpu_);
            s.record(e);
            all.push_back(note_end(all_done(s), *ends_[4 * i], waiting_));
            all.push_back(note_end(event_done(e), *ends_[4 * i + 1], waiting_));
            all.push_back(note_end(copied(s, there_.get(), from_.get(), bytes), *ends_[4 * i + 2], waiting_));
            all.push_back(note_end(block_free(pool_), *ends_[4 * i + 3], waiting_));
        }
        waiter_ = std::async(std::launch::async, [this, tasks = std::move(all)]() mutable {
            weir::sync_wait(workers_, weir::when_all(std::move(tasks)));
        });
        while (waiting_ < ends_.size()) std::this_thread::yield();
    }
    void join() { waiter_.get(); }

    weir::cuda::context& gpu() { return gpu_; }
    weir::thread_pool& workers() { return workers_; }
    const std::vector<std::unique_ptr<outcome>>& ends() const { return ends_; }
    weir::cuda::stream any_stream() const { return streams_.front(); }
    outcome later(std::byte* to, const std::byte* from) {
        outcome end{"copy, afterwards"};
        weir::sync_wait(workers_, note_end(copied(any_stream(), to, from, bytes), end, waiting_));
        return end;
    }

    static constexpr std::size_t bytes = 4096;

  private:
    static constexpr std::size_t num_streams = 4;

    weir::cuda::context gpu_;
    weir::thread_pool workers_{2};
    std::vector<std::unique_ptr<outcome>> ends_;
    device_memory there_{bytes};
    pinned_memory from_{bytes};
    std::vector<weir::cuda::stream> streams_;
    weir::cuda::pinned_pool pool_{gpu_, bytes, 1};
    std::atomic<std::size_t> waiting_{0};
    std::future<void> waiter_;
};

// An endless pipeline.
outcome until_it_fails(weir::cuda::context& gpu, std::atomic<bool>& flows) {
    outcome end{"to_device"};
    weir::thread_pool workers(2);
    weir::cuda::pinned_pool pool(gpu, std::size_t{1} << 20, 4);
    const weir::cuda::stream consumer(gpu);
    const std::vector<float> batch((std::size_t{1} << 20) / sizeof(float));
    try {
        auto p = weir::source([&batch] { return std::optional(std::span<const float>(batch)); }) |
                 weir::cuda::to_device(gpu, pool) | weir::sink(2);
        auto run = p.start(workers);
        for (auto& there : run) {
            there.hand_over(consumer);
            must(cudaStreamSynchronize(consumer.get()), "cudaStreamSynchronize");
            flows = true;
        }
    } catch (const weir::cuda::error& e) {
        end.code = e.status();
        end.said = e.what();
    } catch (const std::exception& e) {
        end.said = e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (const weir::cuda::error& inner) {
            end.code = inner.status();
        }
    }
    end.resumed = bench::seconds_now();
    return end;
}

// Ends the program if this takes too long, because then a coroutine waits for ever.
class watchdog {
  public:
    explicit watchdog(std::chrono::seconds limit)
        : thread_([this, limit] {
              const double end = bench::seconds_now() + static_cast<double>(limit.count());
              while (!over_) {
                  if (bench::seconds_now() > end) {
                      std::fflush(stdout);
                      std::fprintf(stderr,
                                   "cuda: broken device: HANGS: %lld s after the device was broken, not all "
                                   "who waited for it have been resumed\n",
                                   static_cast<long long>(limit.count()));
                      std::_Exit(1);
                  }
                  std::this_thread::sleep_for(std::chrono::milliseconds(10));
              }
          }) {}
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() { over_ = true; }

  private:
    std::atomic<bool> over_{false};
    std::jthread thread_;
};

void show(bench::session& session, const std::vector<std::pair<std::string, const outcome*>>& ends,
          double begin, double known, cudaError_t code) {
    struct row {
        double count = 0;
        double with_error = 0;
        double last = 0;
    };
    std::map<std::string, row> rows;
    for (const auto& [who, end] : ends) {
        row& r = rows[who + ", " + end->waited_for];
        ++r.count;
        if (end->code == code) ++r.with_error;
        r.last = std::max(r.last, end->resumed);
    }
    table out(session, "broken device, an illegal address", "who waits",
              {"waiters", "with the error", "last, ms after launch", "ms after cudaStreamSynchronize"});
    bool all = true;
    for (const auto& [name, r] : rows) {
        all = all && r.count == r.with_error;
        out.line(name, {r.count, r.with_error, (r.last - begin) * 1e3, (r.last - known) * 1e3},
                 against(r.with_error, r.count));
    }
    if (all) return;
    for (const auto& [who, end] : ends) {
        if (end->code != code) {
            throw std::runtime_error(who + ", " + end->waited_for + " should have ended with " +
                                     cudaGetErrorName(code) + ", but with " + cudaGetErrorName(end->code) +
                                     ": '" + end->said + "'");
        }
    }
}

}  // namespace

void broken_device(bench::session& session) {
    using weir::cuda::completion_by;
    const watchdog limit(std::chrono::seconds(30));
    must(load_kernels(), "cudaFuncGetAttributes");
    cudaStream_t breaks = nullptr;
    must(cudaStreamCreateWithFlags(&breaks, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    device_memory there(crowd::bytes);
    const pinned_memory from(crowd::bytes);
    crowd polled(completion_by::polling);
    crowd told(completion_by::host_function);
    std::atomic<bool> flows{false};
    auto pipeline = std::async(std::launch::async, [&] { return until_it_fails(polled.gpu(), flows); });
    while (!flows) std::this_thread::yield();
    polled.begin();
    told.begin();

    must(launch_spin(breaks, before_it_breaks), "the kernel that spins");
    const double begin = bench::seconds_now();
    must(launch_illegal_write(breaks), "the kernel that breaks the device");
    const cudaError_t code = cudaStreamSynchronize(breaks);
    const double known = bench::seconds_now();
    polled.join();
    told.join();
    const outcome pipeline_end = pipeline.get();
    const outcome polled_later = polled.later(there.get(), from.get());
    const outcome told_later = told.later(there.get(), from.get());

    if (!weir::cuda::is_sticky(code)) {
        throw std::runtime_error(
            std::string("a kernel that writes to an illegal address should break the device, "
                        "but cudaStreamSynchronize gave ") +
            cudaGetErrorName(code));
    }
    note(session, std::string("cudaStreamSynchronize gave ") + cudaGetErrorName(code) +
                      "; a consumer heard: '" + pipeline_end.said + "'");
    std::vector<std::pair<std::string, const outcome*>> ends;
    for (const auto& e : polled.ends()) ends.emplace_back("polling", e.get());
    for (const auto& e : told.ends()) ends.emplace_back("host_function", e.get());
    ends.emplace_back("polling", &pipeline_end);
    ends.emplace_back("polling", &polled_later);
    ends.emplace_back("host_function", &told_later);
    show(session, ends, begin, known, code);
    bench::check(weir::cuda::is_sticky(polled.gpu().status()) && weir::cuda::is_sticky(told.gpu().status()),
                 "both contexts know that the device is broken");
}

}  // namespace bench_cuda

#else

namespace bench_cuda {

void broken_device(bench::session& session) {
    note(session, "The device was not broken: that takes a kernel, and this program was built without nvcc.");
}

}  // namespace bench_cuda

#endif
