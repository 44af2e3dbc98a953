// The rate of copies to the device and back: awaited copies against plain calls of the runtime, one at a time, and with
// several under way.
#include "common/check.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench_cuda {
namespace {

constexpr std::size_t under_way = 4;  // number of copies under way, for that case
// Shares of the rate of plain calls.
constexpr double goal_of_several = 0.97;
constexpr std::size_t goal_from = std::size_t{1} << 20;
constexpr double goal_alone(std::size_t bytes) { return bytes < 4 * goal_from ? 0.88 : 0.95; }

struct job {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
    std::size_t times;
};

void plain(cudaStream_t s, const job& j) {
    for (std::size_t i = 0; i < j.times; ++i) {
        must(cudaMemcpyAsync(j.to, j.from, j.bytes, cudaMemcpyDefault, s), "cudaMemcpyAsync");
        must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    }
}

weir::task<> awaited(weir::cuda::stream s, job j) {
    for (std::size_t i = 0; i < j.times; ++i) co_await weir::cuda::copy(s, j.to, j.from, j.bytes);
}

// Waits for the oldest copy before it queues the next.
class plain_in_a_row {
  public:
    plain_in_a_row() {
        for (cudaEvent_t& e : ends_) {
            must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        }
    }
    plain_in_a_row(const plain_in_a_row&) = delete;
    plain_in_a_row& operator=(const plain_in_a_row&) = delete;
    ~plain_in_a_row() {
        for (cudaEvent_t e : ends_) static_cast<void>(cudaEventDestroy(e));
    }
    void operator()(cudaStream_t s, const job& j) const {
        for (std::size_t i = 0; i < j.times; ++i) {
            cudaEvent_t const end = ends_[i % under_way];
            if (i >= under_way) must(cudaEventSynchronize(end), "cudaEventSynchronize");
            must(cudaMemcpyAsync(j.to, j.from, j.bytes, cudaMemcpyDefault, s), "cudaMemcpyAsync");
            must(cudaEventRecord(end, s), "cudaEventRecord");
        }
        must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    }

  private:
    std::array<cudaEvent_t, under_way> ends_{};
};

// One coroutine per copy under way.
void awaited_in_a_row(weir::thread_pool& pool, const weir::cuda::stream& s, const job& j) {
    std::vector<weir::task<>> all;
    for (std::size_t i = 0; i < under_way; ++i) {
        const std::size_t times = j.times / under_way + (i < j.times % under_way ? 1 : 0);
        all.push_back(awaited(s, {j.to, j.from, j.bytes, times}));
    }
    weir::sync_wait(pool, weir::when_all(std::move(all)));
}

// Checks once that copies happen.
void check_copy(weir::thread_pool& pool, const weir::cuda::stream& s, const job& j, std::byte* on_host,
                std::byte* on_device) {
    const bool to_device = j.to == on_device;
    std::vector<std::byte> sent(j.bytes);
    for (std::size_t i = 0; i < j.bytes; ++i) sent[i] = static_cast<std::byte>((i * 7 + j.bytes) & 0xFF);
    must(cudaMemsetAsync(on_device, 0, j.bytes, s.get()), "cudaMemsetAsync");
    if (to_device) {
        std::memcpy(on_host, sent.data(), j.bytes);
        weir::sync_wait(pool, awaited(s, {j.to, j.from, j.bytes, 1}));
        std::memset(on_host, 0, j.bytes);
        plain(s.get(), {on_host, on_device, j.bytes, 1});
    } else {
        plain(s.get(), {on_device, sent.data(), j.bytes, 1});
        std::memset(on_host, 0, j.bytes);
        weir::sync_wait(pool, awaited(s, {j.to, j.from, j.bytes, 1}));
    }
    bench::check(std::equal(sent.begin(), sent.end(), on_host), "what was copied is there");
}

enum class direction { to_device, to_host };

class places {
  public:
    explicit places(std::size_t bytes) : pinned_(bytes), pageable_(bytes), device_(bytes) {
        std::memset(pinned_.get(), 1, bytes);
    }

    void run(bench::session& session, const std::string& title, bool pinned, direction where,
             std::size_t largest) {
        if (!session.wants(title)) return;
        const std::string several = std::to_string(under_way) + " under way, ";
        table out(session, title, "size of a copy",
                  {"plain GB/s", "weir GB/s", "ratio", "min", "max", several + "plain GB/s",
                   "weir, same GB/s", "its ratio", "its min", "its max"});
        std::byte* const host = pinned ? pinned_.get() : pageable_.data();
        const std::size_t amount = std::size_t{session.quick() ? 4U : 256U} << 20;
        for (std::size_t bytes = 4096; bytes <= largest; bytes *= 4) {
            job j{device_.get(), host, bytes, std::clamp<std::size_t>(amount / bytes, 4, 2000)};
            if (where == direction::to_host) j = {host, device_.get(), bytes, j.times};
            if (bytes <= std::size_t{64} << 20) check_copy(pool_, s_, j, host, device_.get());
            const auto times =
                time_in_turns({[&] { plain(s_.get(), j); }, [&] { weir::sync_wait(pool_, awaited(s_, j)); },
                               [&] { plain_several_(s_.get(), j); }, [&] { awaited_in_a_row(pool_, s_, j); }},
                              session.quick() ? 3 : 9);
            const auto rate = [&](std::size_t who) {
                return static_cast<double>(j.bytes * j.times) / median(times[who]) * 1e-9;
            };
            const ratio one(times[0], times[1]);
            const ratio several_of(times[2], times[3]);
            std::string remark;
            if (bytes >= goal_from) {
                remark = against(one.middle, goal_alone(bytes)) +
                         ", several: " + against(several_of.middle, goal_of_several);
            }
            out.line(bytes_text(bytes),
                     {rate(0), rate(1), one.middle, one.min, one.max, rate(2), rate(3), several_of.middle,
                      several_of.min, several_of.max},
                     remark);
        }
    }

  private:
    weir::cuda::context gpu_;
    weir::cuda::stream s_{gpu_};
    weir::thread_pool pool_{1};
    plain_in_a_row plain_several_;
    pinned_memory pinned_;
    std::vector<std::byte> pageable_;
    device_memory device_;
};

}  // namespace

void copies(bench::session& session) {
    const std::string to_device = "copies, page-locked memory to the device";
    const std::string to_host = "copies, device to page-locked memory";
    const std::string pageable = "copies, ordinary memory to the device";
    if (!session.wants(to_device) && !session.wants(to_host) && !session.wants(pageable)) return;
    const std::size_t largest = std::size_t{session.quick() ? 4U : 1024U} << 20;
    places all(largest);
    note(session,
         "GB/s are 10^9 bytes a second; ratios are weir's rate to the plain one's, round by round: median, "
         "smallest, largest. Goal: one at a time 0.88 at 1 MiB and 0.95 from 4 MiB on, with several under "
         "way 0.97. Plain: "
         "cudaMemcpyAsync and cudaStreamSynchronize, or an event for each.");
    all.run(session, to_device, true, direction::to_device, largest);
    all.run(session, to_host, true, direction::to_host, largest);
    all.run(session, pageable, false, direction::to_device, largest);
}

}  // namespace bench_cuda
