#include <weir/running_split.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"

#include <weir/pipe.hpp>
#include <weir/pipeline.hpp>
#include <weir/sink.hpp>
#include <weir/sleep.hpp>
#include <weir/source.hpp>
#include <weir/split.hpp>
#include <weir/task.hpp>
#include <weir/virtual_time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using weir::task;
using weir::virtual_time;
using weir::detail::note;
using weir::detail::origin;
using weir::detail::split_ledger;
using weir::detail::tracked;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

struct history final : weir::detail::progress_listener {
    void finished(std::uint64_t position) noexcept override { positions.push_back(position); }
    std::vector<std::uint64_t> positions;
};

}  // namespace

TEST_CASE("the ledger of a split keeps its batches in their order, with what was noted about each") {
    const auto listener = std::make_shared<history>();
    split_ledger<note> ledger;
    for (const unsigned n : {1U, 2U}) {
        tracked<ints> batch(ints{}, note(9, std::make_shared<origin>(n, listener)));
        split_ledger<note>::entry entry;
        entry.places = {{n}, {}};
        ledger.add(std::move(entry), batch);
        batch.about().settle();
        CHECK(listener->positions.empty());  // the ledger has its note
    }
    auto mark = tracked<ints>::end_of_epoch(9);
    split_ledger<note>::entry end;
    end.end_of_epoch = 9;
    ledger.add(std::move(end), mark);

    for (const unsigned n : {1U, 2U}) {
        auto entry = ledger.take();
        CHECK(entry.places == std::vector<std::vector<std::size_t>>{{n}, {}});
        CHECK_FALSE(entry.end_of_epoch);
        CHECK(entry.about.epoch() == 9);
        entry.about.settle();
        CHECK(listener->positions.size() == n);
        CHECK(listener->positions.back() == n);
    }
    CHECK(ledger.take().end_of_epoch == 9U);
}

TEST_CASE("a batch leaves when the slowest of its parts has come, and behind the batches before it") {
    virtual_time time;
    const auto takes = [](weir::duration each) {
        return weir::pipe(
            [each](ints part) -> task<ints> {
                co_await weir::sleep_for(each * static_cast<int>(part.size()));
                co_return part;
            },
            {.concurrency = 4});
    };
    const auto is_odd = [](int n) { return n % 2; };
    const auto pipeline =
        weir::source(std::vector<ints>{{1, 3, 5, 2}, {2, 4}, {1, 2}}, {.name = "source"}) |
        weir::split(is_odd, weir::branch("even", takes(1s)), weir::branch("odd", takes(10s))) | weir::sink();
    auto run = pipeline.start(time);
    const auto next = [&run] {
        auto batch = run.get();
        return batch ? *batch : ints{};
    };
    CHECK(next() == ints{1, 3, 5, 2});
    CHECK(time.now() == weir::time_point(30s));
    CHECK(next() == ints{2, 4});  // whose parts had been made before
    CHECK(time.now() == weir::time_point(30s));
    CHECK(next() == ints{1, 2});  // each batch is an epoch of its branches
    CHECK(time.now() == weir::time_point(40s));
    CHECK(next().empty());
    CHECK(flows::add_up(run.stats()));
}
