// Many small copies that begin together: with one call, or with a call for each.
#include "common/harness.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench_cuda {
namespace {

constexpr std::size_t count = 64;
constexpr std::size_t bytes = 4096;
constexpr std::size_t apart = 2 * bytes;  // so that no runtime joins them into one copy

struct scene {
    weir::cuda::context gpu;
    weir::cuda::stream stream{gpu};
    weir::thread_pool pool{1};
    pinned_memory host{count * apart};
    device_memory device{count * apart};
    std::vector<weir::cuda::piece> list;

    scene() {
        for (std::size_t i = 0; i < count; ++i) {
            list.push_back({device.get() + i * apart, host.get() + i * apart, bytes});
        }
    }
};

weir::task<> together(scene& s, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) co_await weir::cuda::copy(s.stream, s.list);
}

weir::task<> as_one(scene& s, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
        co_await weir::cuda::copy(s.stream, s.device.get(), s.host.get(), count * bytes);
    }
}

}  // namespace

void pieces(bench::session& session) {
    const std::string title = "pieces, 64 of 4 KiB, page-locked memory to the device";
    if (!session.wants(title)) return;
    const auto s = std::make_shared<scene>();
    bench::group group(session, title, "for all of them");
    group.ours("co_await copy(stream, pieces)",
               [s](std::uint64_t n) { weir::sync_wait(s->pool, together(*s, n)); });
    group.peer("64 cudaMemcpyAsync, cudaStreamSynchronize", [s](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            for (const weir::cuda::piece& p : s->list) {
                must(cudaMemcpyAsync(p.to, p.from, p.bytes, cudaMemcpyDefault, s->stream.get()),
                     "cudaMemcpyAsync");
            }
            must(cudaStreamSynchronize(s->stream.get()), "cudaStreamSynchronize");
        }
    });
    group.limit("co_await copy of 256 KiB in one piece",
                [s](std::uint64_t n) { weir::sync_wait(s->pool, as_one(*s, n)); });
    group.run();
}

}  // namespace bench_cuda
