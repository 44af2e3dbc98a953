#include "scenario.hpp"

#include "common/moodycamel_queue.hpp"

namespace {

struct moodycamel_queues {
    template <class T>
    static void add(bench::group& g, const scenario<T>& s) {
        if (!s.has_threads()) return;
        g.peer("threads, moodycamel and a semaphore", [s](std::uint64_t n) {
            using queue = bench::moodycamel_queue<T>;
            using producer = typename queue::producer;
            using consumer = typename queue::consumer;
            pass_between_threads<T, queue, producer, consumer>(s, n);
        });
    }
};

const for_all_items<moodycamel_queues> joined;

}  // namespace
