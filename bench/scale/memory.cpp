#include "memory.hpp"

#include "common/loop.hpp"
#include "heap.hpp"

#include <weir/channel/channel.hpp>
#include <weir/measure/policy.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace {

int next(int x) { return x + 1; }

template <class Policy>
double bytes_of_run(std::size_t stages, std::size_t slots) {
    weir::stage_list<int> list;
    for (std::size_t i = 0; i < stages; ++i) list.add(weir::pipe(next, {.concurrency = slots}));
    const auto pipeline = weir::source(std::vector<int>{1, 2, 3}) | list | weir::sink(2);
    bench::loop loop;  // nothing runs yet, so that a started run can be measured
    const std::size_t before = heap::bytes_in_use();
    const auto run = pipeline.template start<Policy>(loop);
    return static_cast<double>(heap::bytes_in_use() - before);
}

template <class Policy>
double bytes_of_channel(std::size_t capacity) {
    const std::size_t before = heap::bytes_in_use();
    const auto channel = std::make_unique<weir::channel<int, Policy>>(capacity);
    return static_cast<double>(heap::bytes_in_use() - before);
}

template <class Policy>
void report(bench::session& session, const std::string& policy) {
    constexpr std::size_t many = 1000;  // many, so that the growth of vectors does not matter
    const auto tell = [&](const std::string& what, double bytes, const char* in_short) {
        const std::string title = "memory of " + what + ", " + policy;
        session.value(title, bytes, "bytes");
        if (std::is_same_v<Policy, weir::measured> && session.wants(title)) session.result(in_short, bytes);
    };
    const double channel = bytes_of_channel<Policy>(2);
    const double run = bytes_of_run<Policy>(0, 1);
    const double one_stage = bytes_of_run<Policy>(1, 1);
    tell("a channel of 2 ints", channel, "channel_bytes");
    tell("a further place in it", (bytes_of_channel<Policy>(2 + many) - channel) / many, "place_bytes");
    tell("a run of source and sink", run, "run_bytes");
    tell("a stage, its slot and queue of 2", (bytes_of_run<Policy>(many, 1) - run) / many, "stage_bytes");
    tell("a further slot of a stage", (bytes_of_run<Policy>(1, 1 + many) - one_stage) / many, "slot_bytes");
}

}  // namespace

void report_memory(bench::session& session) {
    report<weir::unmeasured>(session, "unmeasured");
    report<weir::summed>(session, "summed");
    report<weir::measured>(session, "measured");
}
