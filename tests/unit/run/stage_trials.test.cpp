#include <weir/run/stage_trials.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/rehearsal.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

using weir::profile_trial;
using weir::detail::rehearsed_run;
using namespace std::chrono_literals;

namespace {

struct heard {
    std::vector<std::vector<profile_trial>> trials;  // by stage, in the order in which they were
    bool was_cut_short = false;
};

class recorded final : public weir::detail::stage_trials {
  public:
    recorded(std::size_t items, heard& to) noexcept : stage_trials(items, slots), to_(to) {}

    void finish(rehearsed_run& run) override { to_.was_cut_short = run.is_cut_short(); }
    void gave_up(rehearsed_run&, std::exception_ptr) noexcept override {}

  private:
    static constexpr std::size_t slots[] = {1, 2, 5};

    void begins(rehearsed_run& run) override { to_.trials.resize(run.num_stages()); }
    void begins(const rehearsed_run&, std::size_t, std::size_t) override {}
    void found(const rehearsed_run&, std::size_t stage, std::size_t place, const profile_trial& t) override {
        CHECK(place == to_.trials[stage].size());
        to_.trials[stage].push_back(t);
    }

    heard& to_;
};

template <class P>
heard tried(P pipeline, std::size_t items) {
    heard all;
    weir::virtual_time time;
    weir::detail::run_core<weir::measured> run(time, {}, std::make_unique<recorded>(items, all));
    auto& end = P::attach(std::move(pipeline), run);
    run.start();
    static_cast<void>(end.blocking_get());
    run.stop();
    return all;
}

weir::task<int> in_10_ms(int n) {
    co_await weir::sleep_for(10ms);
    co_return n;
}

}  // namespace

TEST_CASE("the items of a stage are divided among its trials, and go on behind them") {
    std::vector<int> seen;
    const heard all = tried(weir::source(std::views::iota(0, 200)) | weir::pipe(in_10_ms) |
                                weir::for_each([&seen](int n) { seen.push_back(n); }),
                            100);
    REQUIRE(all.trials.size() == 3);
    CHECK(all.trials[0].at(0).num_items == 100);
    REQUIRE(all.trials[1].size() == 3);
    const std::vector<int> items = {22, 28, 50};  // of a third each by half, and 1, 2 and 5 eighths
    for (std::size_t i = 0; i < 3; ++i) {
        const profile_trial& t = all.trials[1][i];
        CHECK(t.num_items == static_cast<std::uint64_t>(items[i]));
        CHECK(t.elapsed == 10ms * items[i] / static_cast<int>(t.concurrency));
        CHECK(t.readiness == 1);
        CHECK(t.times.total() == t.elapsed * static_cast<int>(t.concurrency));
    }
    REQUIRE(all.trials[2].size() == 1);
    CHECK(all.trials[2][0].num_items == 100);
    std::vector<int> whole(200);
    for (int i = 0; i < 200; ++i) whole[static_cast<std::size_t>(i)] = i;
    CHECK(seen == whole);
}

TEST_CASE("a trial ends where more comes of the items than there is room for") {
    std::size_t seen = 0;
    const heard all = tried(weir::source(std::views::iota(0, 10)) | weir::flat_map([](int n) {
                                return std::vector<int>(100, n);
                            }) | weir::for_each([&seen](int) { ++seen; }),
                            10);
    CHECK(all.trials[1].at(0).num_results <= 30);
    CHECK(all.trials[1].at(0).num_results >= 20);
    CHECK(seen == 1000);
}

TEST_CASE("trials are cut short by a failure, and by it alone") {
    const auto fails = [](int n) -> int {
        if (n == 3) throw n;
        return n;
    };
    const heard all =
        tried(weir::source(std::views::iota(0, 10)) | weir::pipe(fails) | weir::for_each([](int) {}), 10);
    CHECK(all.was_cut_short);
    CHECK(all.trials[2].empty());
    CHECK_FALSE(tried(weir::source({1, 2}) | weir::for_each([](int) {}), 10).was_cut_short);
}
