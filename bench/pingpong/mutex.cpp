#include "common/locked_queue.hpp"
#include "scenario.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    if (!s.has_threads()) return;
    g.peer("threads, mutex and condition variables", between_threads<bench::locked_queue<std::uint64_t>>);
});

}  // namespace
