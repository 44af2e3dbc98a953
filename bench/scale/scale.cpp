// Growth: the cost of an item with many stages, many channels and many items, and their memory.
#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/sum_of.hpp"
#include "memory.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace {

using item = std::uint64_t;

constexpr std::size_t capacity = 64;

item next(item x) { return x + 1; }

template <class Policy>
void through_stages(weir::thread_pool& pool, std::uint64_t stages, std::uint64_t items) {
    weir::stage_list<item> list;
    for (std::uint64_t i = 0; i < stages; ++i) list.add(weir::pipe(next, {.capacity = capacity}));
    auto pipeline = weir::source(std::views::iota(item{0}, items), {.capacity = capacity}) | std::move(list) |
                    weir::sink(capacity);
    auto run = pipeline.template start<Policy>(pool);
    const item sum = weir::sync_wait(pool, bench::sum_of(run));
    bench::check(sum == items * (items - 1) / 2 + stages * items, "each item passes each stage");
}

// At least 100 items through each stage, so that the start of the run is a small part.
void many_stages(bench::session& session, std::uint64_t stages, unsigned workers) {
    const std::string title = bench::count(stages, "stage") + ", " + bench::count(workers, "worker");
    bench::group group(session, title, "an item and stage");
    group.smallest(stages * 100);
    const auto pool = std::make_shared<weir::thread_pool>(workers);
    group.ours("weir", [=](std::uint64_t n) { through_stages<weir::unmeasured>(*pool, stages, n / stages); });
    group.ours("weir, measured",
               [=](std::uint64_t n) { through_stages<weir::measured>(*pool, stages, n / stages); });
    group.run();
}

// Runs of a given length, one after the other. A short run includes its start and end; a long one shows whether
// the cost of an item stays constant.
void many_items(bench::session& session, std::uint64_t items, bool once = false) {
    bench::group group(session, "runs of " + std::to_string(items) + " items, 3 stages, 1 worker", "an item");
    group.smallest(items);
    if (once) group.once();
    const auto pool = std::make_shared<weir::thread_pool>(1);
    group.ours("weir", [=](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n / items; ++i) {
            through_stages<weir::unmeasured>(*pool, 3, items);
        }
    });
    group.ours("weir, measured", [=](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n / items; ++i) {
            through_stages<weir::measured>(*pool, 3, items);
        }
    });
    group.run();
}

// Persistent channels, each with a coroutine at either end.
template <class Policy>
class pairs {
    using channel = weir::channel<item, Policy>;

  public:
    pairs(std::size_t count, weir::thread_pool& pool) : pool_(pool) {
        for (std::size_t i = 0; i < count; ++i) {
            channels_.push_back(std::make_unique<channel>(capacity, pool));
        }
    }

    void pass(std::uint64_t items) {
        std::vector<weir::task<>> tasks;
        tasks.reserve(2 * channels_.size());
        for (const auto& c : channels_) {
            tasks.push_back(give(*c, items));
            tasks.push_back(take(*c, items));
        }
        weir::sync_wait(pool_, weir::when_all(std::move(tasks)));
    }

  private:
    static weir::task<> give(channel& out, std::uint64_t items) {
        for (item x = 0; x < items; ++x) co_await out.put(x);
    }
    static weir::task<> take(channel& in, std::uint64_t items) {
        item sum = 0;
        for (std::uint64_t i = 0; i < items; ++i) {
            const auto x = co_await in.get();
            sum += *x;
        }
        bench::check(sum == items * (items - 1) / 2, "each item comes out, once");
    }

    weir::thread_pool& pool_;
    std::vector<std::unique_ptr<channel>> channels_;
};

void many_channels(bench::session& session, std::size_t channels, unsigned workers) {
    const std::string title = bench::count(channels, "channel") + ", " + bench::count(workers, "worker");
    if (!session.wants(title)) return;
    weir::thread_pool pool(workers);  // declared before the group, which holds the channels
    bench::group group(session, title, "an item");
    // So that the start of the coroutines is a small part: with 100 items each, it is 4 of 12 ns for 10^5 channels.
    group.smallest(channels * 1'000);
    const auto plain = std::make_shared<pairs<weir::unmeasured>>(channels, pool);
    const auto measured = std::make_shared<pairs<weir::measured>>(channels, pool);
    group.ours("weir", [=](std::uint64_t n) { plain->pass(n / channels); });
    group.ours("weir, measured", [=](std::uint64_t n) { measured->pass(n / channels); });
    group.run();
}

// One coroutine puts an item into each channel and takes it, channel by channel. With many channels none is in
// the cache when its turn comes, and no operation waits.
template <class Policy>
class visited {
    using channel = weir::channel<item, Policy>;

  public:
    visited(std::size_t count, weir::thread_pool& pool) : pool_(pool) {
        for (std::size_t i = 0; i < count; ++i) {
            channels_.push_back(std::make_unique<channel>(capacity, pool));
        }
    }

    void visit(std::uint64_t rounds) { weir::sync_wait(pool_, visits(rounds)); }

  private:
    weir::task<> visits(std::uint64_t rounds) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            for (const auto& c : channels_) {
                co_await c->put(i);
                const auto x = co_await c->get();
                bench::check(*x == i, "the item comes out of its channel");
            }
        }
    }

    weir::thread_pool& pool_;
    std::vector<std::unique_ptr<channel>> channels_;
};

void channels_in_turn(bench::session& session, std::size_t channels) {
    const std::string title = bench::count(channels, "channel") + " in turn, 1 worker";
    if (!session.wants(title)) return;
    weir::thread_pool pool(1);  // declared before the group, which holds the channels
    bench::group group(session, title, "a put and a get");
    group.smallest(channels);
    const auto plain = std::make_shared<visited<weir::unmeasured>>(channels, pool);
    const auto measured = std::make_shared<visited<weir::measured>>(channels, pool);
    group.ours("weir", [=](std::uint64_t n) { plain->visit(n / channels); });
    group.ours("weir, measured", [=](std::uint64_t n) { measured->visit(n / channels); });
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("scale", argc, argv);
    report_memory(session);
    for (const unsigned workers : session.workers()) {
        for (const std::uint64_t stages : {1U, 3U, 10U, 100U, 1'000U}) {
            many_stages(session, stages, workers);
        }
        for (const std::size_t channels : {1U, 10U, 100U, 1'000U, 10'000U, 100'000U}) {
            many_channels(session, channels, workers);
        }
    }
    for (const std::size_t channels : {1U, 1'000U, 10'000U, 100'000U}) channels_in_turn(session, channels);
    const std::uint64_t most = session.quick() ? 100'000 : 10'000'000;
    for (std::uint64_t items = 10; items <= most; items *= 10) many_items(session, items);
    if (session.takes_long()) {
        for (const std::uint64_t items : {100'000'000U, 1'000'000'000U}) {
            many_items(session, items, true);
        }
    }
}
