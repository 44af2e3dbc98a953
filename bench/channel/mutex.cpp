#include "scenario.hpp"

#include "common/locked_queue.hpp"

namespace {

struct locked_queues {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        if (!s.has_threads()) return;
        g.peer("threads, mutex and condition variables",
               [s](std::uint64_t n) { pass_between_threads<T, bench::locked_queue<T>>(s, n); });
    }
};

const for_all_items<locked_queues> joined;

}  // namespace
