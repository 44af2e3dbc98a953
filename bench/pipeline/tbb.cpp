// oneTBB: its pipeline of filters, and its flow graph.
#include "scenario.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>

namespace {

using namespace bench::stages;

void through_filters(tbb::task_arena& arena, const scenario& s, std::uint64_t n) {
    using mode = tbb::filter_mode;
    const mode middle = s.slots == 1 ? mode::serial_in_order : mode::parallel;
    const mode ends = s.slots == 1 ? mode::serial_in_order : mode::serial_out_of_order;
    item next = 0;
    totals seen;
    const auto source = tbb::make_filter<void, item>(ends, [&](tbb::flow_control& flow) {
        if (next == n) {
            flow.stop();
            return item{0};
        }
        return next++;
    });
    const auto stage = tbb::make_filter<item, item>(middle, [&](item x) { return s.stage(x); });
    const auto sink = tbb::make_filter<item, void>(ends, [&](item x) { seen.add(x); });
    arena.execute([&] { tbb::parallel_pipeline(s.tokens(), source & stage & stage & stage & sink); });
    seen.expect(n);
}

// Keeps no order, not even with one slot, which would need a sequencer_node. `Policy` decides whether the
// body of a node is a task, or runs inside the call of the node before.
template <class Policy>
void through_graph(tbb::task_arena& arena, const scenario& s, std::uint64_t n) {
    namespace flow = tbb::flow;
    item next = 0;
    totals seen;
    arena.execute([&] {
        flow::graph graph;
        flow::input_node<item> source(graph, [&](tbb::flow_control& control) {
            if (next == n) {
                control.stop();
                return item{0};
            }
            return next++;
        });
        flow::limiter_node<item> limiter(graph, s.tokens());
        // Only noexcept bodies can be lightweight.
        const auto body = [&](item x) noexcept { return s.stage(x); };
        using stage = flow::function_node<item, item, Policy>;
        stage first(graph, s.slots, body);
        stage second(graph, s.slots, body);
        stage third(graph, s.slots, body);
        flow::function_node<item, flow::continue_msg, Policy> sink(graph, flow::serial, [&](item x) noexcept {
            seen.add(x);
            return flow::continue_msg();
        });
        flow::make_edge(source, limiter);
        flow::make_edge(limiter, first);
        flow::make_edge(first, second);
        flow::make_edge(second, third);
        flow::make_edge(third, sink);
        flow::make_edge(sink, limiter.decrementer());
        source.activate();
        graph.wait_for_all();
    });
    seen.expect(n);
}

const bench::contestants<scenario> tbb_contestants([](bench::group& group, const scenario& s) {
    // The calling thread is one of an arena's.
    const auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(s.workers));
    group.peer("oneTBB, parallel_pipeline", [=](std::uint64_t n) { through_filters(*arena, s, n); });
    if (s.work_ns >= 500) {
        if (s.workers == 1) return;
        group.peer("oneTBB, flow graph",
                   [=](std::uint64_t n) { through_graph<tbb::flow::queueing>(*arena, s, n); });
    } else {
        group.peer("oneTBB, flow graph, lightweight",
                   [=](std::uint64_t n) { through_graph<tbb::flow::queueing_lightweight>(*arena, s, n); });
    }
});

}  // namespace
