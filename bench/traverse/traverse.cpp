// The cost of a node of a tree whose nodes are found on the way: `traverse_each`, and the feeders of peers.
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace traverse {
namespace {

// Each contestant's own.
struct place {
    explicit place(unsigned workers) : pool(workers) {}
    weir::thread_pool pool;
    bench::tally tally;
};

template <class Policy>
std::uint64_t once(place& here, const scenario& s, weir::traverse_order order) {
    const auto visits = [&here, s](std::uint64_t node, weir::feeder<std::uint64_t>& more) {
        visit(here.tally, node, s.nodes, [&more](std::uint64_t child) { more.add(child); });
    };
    const auto walk = weir::source({std::uint64_t{1}}) |
                      weir::traverse_each(visits, {.concurrency = s.workers, .order = order});
    auto run = walk.template start<Policy>(here.pool);
    run.wait();
    return here.tally.take();
}

template <class Policy>
void add(bench::group& group, const std::string& name, const scenario& s, weir::traverse_order order) {
    const auto here = std::make_shared<place>(s.workers);
    group.ours(name, repeat(s, [here, s, order] { return once<Policy>(*here, s, order); }));
}

// One node after the other on this thread, from a vector.
std::uint64_t by_a_stack(const scenario& s, bench::tally& tally) {
    std::vector<std::uint64_t> pending{1};
    while (!pending.empty()) {
        const std::uint64_t node = pending.back();
        pending.pop_back();
        visit(tally, node, s.nodes, [&pending](std::uint64_t child) { pending.push_back(child); });
    }
    return tally.take();
}

}  // namespace
}  // namespace traverse

int main(int argc, char** argv) {
    bench::session session("traverse", argc, argv);
    using weir::traverse_order;
    for (const unsigned workers : session.workers()) {
        const std::string power = session.quick() ? "10^4" : "10^6";
        const std::string title = "a tree of " + power + " nodes, " + bench::count(workers, "worker");
        if (!session.wants(title)) continue;
        const traverse::scenario scenario{workers, session.quick() ? 10'000U : 1'000'000U};
        bench::group group(session, title, "a node");
        group.smallest(scenario.nodes);
        traverse::add<weir::unmeasured>(group, "weir", scenario, traverse_order::depth_first);
        traverse::add<weir::measured>(group, "weir, measured", scenario, traverse_order::depth_first);
        traverse::add<weir::measured>(group, "weir, measured, as found", scenario, traverse_order::as_found);
        bench::contestants<traverse::scenario>::join(group, scenario);
        group.limit("a stack, one thread",
                    repeat(scenario, [scenario, tally = std::make_shared<bench::tally>()] {
                        return traverse::by_a_stack(scenario, *tally);
                    }));
        group.run();
    }
}
