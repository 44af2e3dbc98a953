#include "scenario.hpp"

#include "common/moodycamel_queue.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    g.peer("threads, moodycamel and a semaphore", [s](std::uint64_t n) {
        using queue = bench::moodycamel_queue<std::uint64_t>;
        between_threads<queue, queue::producer, queue::consumer>(s.capacity, n);
    });
});

}  // namespace
