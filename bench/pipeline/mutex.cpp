// One thread per slot, and queues with a mutex and two condition variables.
#include "scenario.hpp"

#include "common/locked_queue.hpp"
#include "common/threads.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace {

using namespace bench::stages;
using queue = bench::locked_queue<item>;

struct line {
    explicit line(const scenario& s) : what(s) {
        for (std::atomic<std::size_t>& p : present) p = s.slots;
    }
    const scenario& what;
    std::array<queue, num_stages + 1> queues{queue(what.capacity), queue(what.capacity), queue(what.capacity),
                                             queue(what.capacity)};
    std::array<std::atomic<std::size_t>, num_stages> present{};
};

void end(queue& out, std::size_t readers) {
    for (std::size_t i = 0; i < readers; ++i) out.push(item{end_of_stream});
}

void give(line& l, std::uint64_t n) {
    for (item x = 0; x < n; ++x) l.queues.front().push(item{x});
    end(l.queues.front(), l.what.slots);
}

void slot(line& l, std::size_t stage) {
    while (true) {
        item x = 0;
        l.queues[stage].pop(x);
        if (x == end_of_stream) break;
        l.queues[stage + 1].push(l.what.stage(x));
    }
    if (l.present[stage].fetch_sub(1) != 1) return;
    end(l.queues[stage + 1], stage + 1 < num_stages ? l.what.slots : 1);
}

void take(line& l, totals& seen) {
    while (true) {
        item x = 0;
        l.queues.back().pop(x);
        if (x == end_of_stream) break;
        seen.add(x);
    }
}

void through_threads(const scenario& s, std::uint64_t n) {
    line l(s);
    totals seen;
    const std::size_t slots = num_stages * s.slots;
    bench::on_threads(slots + 2, [&](std::size_t i) {
        if (i < slots) {
            slot(l, i / s.slots);
        } else if (i == slots) {
            give(l, n);
        } else {
            take(l, seen);
        }
    });
    seen.expect(n);
}

// Its threads use all cores, so it takes part only if the others may use all cores, too.
const bench::contestants<scenario> threads([](bench::group& group, const scenario& s) {
    if (s.workers == 1 || (s.work_ns != 0 && s.slots > 1)) return;
    group.peer("threads, mutex and condition_variable", [=](std::uint64_t n) { through_threads(s, n); });
});

}  // namespace
