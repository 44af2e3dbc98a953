// oneTBB's pipeline of filters, whose last filter is the body of the loop.
#include "scenario.hpp"

#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>

namespace {

using namespace bench::consumer;

void through_filters(tbb::task_arena& arena, const scenario& s, std::uint64_t n) {
    using mode = tbb::filter_mode;
    std::uint64_t next = 0;
    std::uint64_t sum = 0;
    const auto source =
        tbb::make_filter<void, std::uint64_t>(mode::serial_in_order, [&](tbb::flow_control& flow) {
            if (next == n) {
                flow.stop();
                return std::uint64_t{0};
            }
            return next++;
        });
    const auto stage =
        tbb::make_filter<std::uint64_t, std::uint64_t>(mode::parallel, [](std::uint64_t x) { return x; });
    const auto body =
        tbb::make_filter<std::uint64_t, void>(mode::serial_in_order, [&](std::uint64_t x) { sum += x; });
    const std::size_t tokens = 3 + 4 * s.workers;
    arena.execute([&] { tbb::parallel_pipeline(tokens, source & stage & stage & body); });
    expect(sum, n);
}

const bench::contestants<scenario> joined([](bench::group& group, const scenario& s) {
    // The calling thread is one of an arena's.
    const auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(s.workers));
    group.peer("oneTBB, parallel_pipeline", [=](std::uint64_t n) { through_filters(*arena, s, n); });
});

}  // namespace
