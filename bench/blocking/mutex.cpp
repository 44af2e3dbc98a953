#include "scenario.hpp"

#include "common/locked_queue.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    g.peer("threads, mutex and condition variables",
           [s](std::uint64_t n) { between_threads<bench::locked_queue<std::uint64_t>>(s.capacity, n); });
});

}  // namespace
