#include <weir/graph/running_split.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/split.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

using weir::task;
using weir::virtual_time;
using weir::detail::epoch_item;
using weir::detail::origin;
using weir::detail::provenance;
using weir::detail::split_records;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

struct history final : weir::detail::progress_listener {
    void settle(origin& from, bool taken) noexcept override {
        torn += from.settle(taken, [this](std::uint64_t position) { positions.push_back(position); });
    }
    std::ptrdiff_t torn = 0;
    std::vector<std::uint64_t> positions;
};

}  // namespace

TEST_CASE("the ledger of a split keeps its batches in their order, with what was noted about each") {
    history listener;
    split_records<provenance> ledger;
    for (const unsigned n : {1U, 2U}) {
        epoch_item<ints> batch(ints{}, provenance(9, std::make_shared<origin>(n, listener)));
        split_records<provenance>::record entry;
        entry.places = {{n}, {}};
        ledger.add(std::move(entry), batch);
        batch.item_provenance().acknowledge();
        CHECK(listener.positions.empty());  // the ledger has its note
    }
    auto mark = epoch_item<ints>::end_of_epoch(9);
    split_records<provenance>::record end;
    end.end_of_epoch = 9;
    ledger.add(std::move(end), mark);

    for (const unsigned n : {1U, 2U}) {
        auto entry = ledger.take();
        CHECK(entry.places == std::vector<std::vector<std::size_t>>{{n}, {}});
        CHECK_FALSE(entry.end_of_epoch);
        CHECK(entry.provenance.epoch() == 9);
        entry.provenance.acknowledge();
        CHECK(listener.positions.size() == n);
        CHECK(listener.positions.back() == n);
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

TEST_CASE("the number of a batch that failed counts no ends of epochs, in a resumed run neither") {
    virtual_time time;
    const auto draws_of = [](std::uint64_t epochs, std::optional<weir::checkpoint> from) {
        return weir::source(
                   weir::draws(weir::sampler({.size = 4, .shuffle = false, .resume = std::move(from)}),
                               epochs)) |
               weir::aggregate(1);
    };
    auto before = (draws_of(2, std::nullopt) | weir::sink()).start(time);
    CHECK(items::take_all(before).size() == 8);
    // Epochs 2 and 3: the last but one of the second is refused.
    const auto chooser = [](const weir::draw& d) {
        if (d.epoch == 3 && d.index == 2) throw std::runtime_error("refused");
        return 0;
    };
    const auto end = items::take_until_failure(
        (draws_of(4, before.checkpoint()) | weir::split(chooser, weir::branch("all")) | weir::sink())
            .start(time));
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 6);
}

TEST_CASE("the time of a choice that failed is in no average of those that didn't") {
    for (int bad = 0; bad < 8; ++bad) {
        slow_world world;
        const auto chooser = [&world, bad](int n) {
            if (n == bad) {
                world.pass(1ms);
                throw std::runtime_error("bad");
            }
            return 0;
        };
        auto run =
            (weir::source(std::views::iota(0, 10), {.capacity = 20}) | weir::aggregate(1, {.capacity = 20}) |
             weir::split(chooser, {.capacity = 40, .max_failures = 1}, weir::branch("all")) | weir::sink(20))
                .start(world);
        world.run();
        const auto stage = run.stats().stages.at(2);
        CHECK(stage.num_tasks == 10);
        CHECK(stage.num_failures == 1);
        CHECK(stage.task_time == 0ms);
        CHECK(stage.times().run == 1ms);
    }
}

namespace {

// Two executors of one thread and one clock: the second one says when it runs.
class side_world final : public weir::executor {
  public:
    explicit side_world(slow_world& main) : main_(main) {}
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override { main_.add(t); }
    void cancel(weir::timer& t) noexcept override { main_.cancel(t); }
    weir::time_point now() const noexcept override { return main_.now(); }
    bool drive(flag&, weir::time_point) override { throw weir::deadlock_error("it is never driven"); }
    // All that is ready on both.
    void run() {
        main_.run();
        while (!ready_.empty()) {
            const auto h = ready_.front();
            ready_.pop_front();
            runs_ = true;
            resume(h);
            runs_ = false;
            main_.run();
        }
    }
    void pass_if_it_runs(weir::duration d) {
        if (runs_) main_.pass(d);
    }

  private:
    slow_world& main_;
    std::deque<std::coroutine_handle<>> ready_;
    bool runs_ = false;
};

// To move what is inside takes a while, where it is told so.
class heavy {
  public:
    heavy() = default;
    heavy(heavy&& other) noexcept : numbers_(std::move(other.numbers_)) {
        other.numbers_.clear();
        if (where != nullptr && !numbers_.empty()) where->pass_if_it_runs(1ms);
    }
    heavy& operator=(heavy&& other) noexcept {
        numbers_ = std::move(other.numbers_);
        other.numbers_.clear();
        return *this;
    }
    using value_type = int;
    void push_back(int n) { numbers_.push_back(n); }
    auto begin() { return numbers_.begin(); }
    auto end() { return numbers_.end(); }

    static inline side_world* where = nullptr;

  private:
    ints numbers_;
};

}  // namespace

TEST_CASE("what a join does with a part is its work, and no wait for the next one") {
    slow_world world;
    side_world side(world);
    const auto make = [](int n) {
        heavy all;
        for (int i = 0; i < n; ++i) all.push_back(i);
        return all;
    };
    // From then on: the batch has been divided.
    const auto first = weir::pipe([&side](heavy part) -> task<heavy> {
        co_await weir::sleep_for(1s);
        heavy::where = &side;
        co_return std::move(part);
    });
    const auto second = weir::pipe([](heavy part) -> task<heavy> {
        co_await weir::sleep_for(1h);
        co_return std::move(part);
    });
    auto run = (weir::source({2}) | weir::pipe(make) |
                weir::split([](int n) { return n; }, {.executor = &side}, weir::branch("first", first),
                            weir::branch("second", second)) |
                weir::sink())
                   .start(world);
    side.run();
    world.pass(1s);
    side.run();
    heavy::where = nullptr;
    const auto stats = run.stats();
    const auto& join = stats.stages.at(5);
    CHECK(join.kind == "join");
    CHECK(stats.elapsed > 1s);
    CHECK(join.times().wait_get == 1s);
    CHECK(join.times().run == stats.elapsed - 1s);
    run.stop();
}
