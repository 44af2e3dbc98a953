#include "scenario.hpp"

#include "common/tbb_queue.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    g.peer("threads, oneTBB concurrent_bounded_queue",
           [s](std::uint64_t n) { between_threads<bench::tbb_queue<std::uint64_t>>(s.capacity, n); });
});

}  // namespace
