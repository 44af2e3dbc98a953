// The cost of an item from a source through two stages that do nothing to a thread that takes it in a loop.
#include "common/sum_of.hpp"
#include "scenario.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>

#include <memory>
#include <ranges>
#include <string>

namespace {

using namespace bench::consumer;

template <class Policy, class Consume>
void through_pipeline(weir::thread_pool& pool, const scenario& s, std::uint64_t n, Consume consume) {
    const auto same = [](std::uint64_t x) { return x; };
    const weir::stage_options options{.concurrency = s.workers};
    const auto stages = weir::source(std::views::iota(std::uint64_t{0}, n)) | weir::pipe(same, options) |
                        weir::pipe(same, options);
    auto whole = s.capacity_of_sink == 0 ? stages | weir::sink() : stages | weir::sink(s.capacity_of_sink);
    auto run = whole.template start<Policy>(pool);
    expect(consume(run), n);
}

const auto in_a_loop = [](auto& run) {
    std::uint64_t sum = 0;
    for (const std::uint64_t x : run) sum += x;
    return sum;
};

void compare(bench::session& session, const scenario& s) {
    const std::string sink =
        s.capacity_of_sink == 0 ? "sink()" : "sink(" + std::to_string(s.capacity_of_sink) + ")";
    const std::string title = sink + ", " + bench::count(s.workers, "worker");
    if (!session.wants(title)) return;
    bench::group group(session, title, "an item");
    const auto pool = std::make_shared<weir::thread_pool>(s.workers);
    group.ours("weir", [=](std::uint64_t n) { through_pipeline<weir::unmeasured>(*pool, s, n, in_a_loop); });
    group.ours("weir, measured",
               [=](std::uint64_t n) { through_pipeline<weir::measured>(*pool, s, n, in_a_loop); });
    group.ours("weir, measured, to a coroutine of the pool", [=](std::uint64_t n) {
        through_pipeline<weir::measured>(*pool, s, n, [&](auto& run) {
            return weir::sync_wait(*pool, bench::sum_of(run));
        });
    });
    group.ours("weir, measured, to a coroutine of sync_wait", [=](std::uint64_t n) {
        through_pipeline<weir::measured>(*pool, s, n,
                                         [](auto& run) { return weir::sync_wait(bench::sum_of(run)); });
    });
    bench::contestants<scenario>::join(group, s);
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("consumer", argc, argv);
    for (const unsigned workers : session.workers()) {
        for (const std::size_t capacity : {0U, 3U}) compare(session, {workers, capacity});
    }
}
