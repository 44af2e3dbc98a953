#include "scenario.hpp"

#include "common/tbb_queue.hpp"

namespace {

struct tbb_queues {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        if (!s.has_threads()) return;
        g.peer("threads, oneTBB concurrent_bounded_queue",
               [s](std::uint64_t n) { pass_between_threads<T, bench::tbb_queue<T>>(s, n); });
    }
};

const for_all_items<tbb_queues> joined;

}  // namespace
