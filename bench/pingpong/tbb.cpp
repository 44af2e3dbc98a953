#include "common/tbb_queue.hpp"
#include "scenario.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    if (!s.has_threads()) return;
    g.peer("threads, oneTBB concurrent_bounded_queue", between_threads<bench::tbb_queue<std::uint64_t>>);
});

}  // namespace
