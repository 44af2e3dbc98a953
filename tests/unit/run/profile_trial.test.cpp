#include <weir/run/profile_trial.hpp>

#include "support/catch.hpp"
#include "support/semaphore.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_report.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

using weir::profile_trial;
using weir::detail::profiled_run;
using weir::detail::trial_shares;
using namespace std::chrono_literals;

TEST_CASE("a trial's rate is that of the items taken") {
    profile_trial t;
    CHECK(t.rate() == 0);
    t.num_items = 64;
    t.elapsed = 320ms;
    CHECK(t.rate() == 200);
}

TEST_CASE("the items of a stage are divided among its trials, evenly by half, and by half by their slots") {
    const std::size_t slots[] = {1, 4, 8, 16, 32};
    const trial_shares s(slots);
    std::vector<std::size_t> shares;
    std::size_t left = 1000;
    for (std::size_t i = 0; i < 5; ++i) {
        shares.push_back(s.share(i, 5, 1000, left));
        left -= shares.back();
    }
    CHECK(shares == std::vector<std::size_t>{108, 132, 160, 224, 352});
}

TEST_CASE("as many trials are made as have four items for each slot, and ten") {
    const std::size_t slots[] = {1, 4, 8, 16, 32};
    const trial_shares s(slots);
    CHECK(s.trials(0) == 1);
    CHECK(s.trials(1000) == 5);
    for (std::size_t n = 1; n <= 5; ++n) {
        const std::size_t enough = s.items_needed(n);
        CHECK(s.trials(enough) == n);
        CHECK(s.trials(enough - 1) == (n == 1 ? 1 : n - 1));
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(s.share(i, n, enough, enough) >= 4 * slots[i]);
            CHECK(s.share(i, n, enough, enough) + slots[i] > 10);
        }
    }
    CHECK(s.items_needed(5) == 354);
}

TEST_CASE("the last trial gets the rest, in a multiple of its slots unless there are fewer items") {
    const std::size_t slots[] = {1, 3};
    const trial_shares s(slots);
    CHECK(s.share(1, 2, 100, 2) == 2);
    CHECK(s.share(1, 2, 100, 3) == 3);
    CHECK(s.share(1, 2, 100, 11) == 9);
    CHECK(s.share(0, 2, 100, 11) == 11);
    CHECK(s.share(0, 2, 100, 100) == 37);
    CHECK(s.share(0, 1, 100, 100) == 100);
}

namespace {

struct heard {
    std::vector<std::vector<profile_trial>> trials;  // by stage, in the order in which they were
    bool was_interrupted = false;
};

class recorded final : public weir::detail::stage_trials {
  public:
    recorded(std::size_t items, heard& to, weir::detail::trial_limits most) noexcept
        : stage_trials(items, slots, most), to_(to) {}

    void finish(profiled_run& run) override { to_.was_interrupted = run.was_interrupted(); }
    void abandon(profiled_run&, std::exception_ptr) noexcept override {}

  private:
    static constexpr std::size_t slots[] = {1, 2, 5};

    void on_begin(profiled_run& run) override { to_.trials.resize(run.num_stages()); }
    void on_trial(const profiled_run&, std::size_t, std::size_t) override {}
    void on_result(const profiled_run&, std::size_t stage, std::size_t place,
                   const profile_trial& t) override {
        CHECK(place == to_.trials[stage].size());
        to_.trials[stage].push_back(t);
    }

    heard& to_;
};

template <class P>
heard tried_on(weir::executor& ex, P pipeline, std::size_t items, weir::detail::trial_limits most) {
    heard all;
    weir::detail::run_core<weir::measured> run(ex, {},
                                               weir::detail::owned<weir::detail::run_profiler>(
                                                   new recorded(items, all, most)));
    auto& end = P::attach(std::move(pipeline), run);
    run.start();
    static_cast<void>(end.blocking_get());
    run.stop();
    return all;
}

template <class P>
heard tried(P pipeline, std::size_t items) {
    weir::virtual_time time;
    return tried_on(time, std::move(pipeline), items, {.still = 3s, .trial = 10s});
}

weir::task<int> in_10_ms(int n) {
    co_await weir::sleep_for(10ms);
    co_return n;
}

std::vector<int> all_below(int n) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("the items of a stage are divided among its trials, and go on to the next stage") {
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
    CHECK(seen == all_below(200));
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
    CHECK(all.was_interrupted);
    CHECK(all.trials[2].empty());
    CHECK_FALSE(tried(weir::source({1, 2}) | weir::for_each([](int) {}), 10).was_interrupted);
}

TEST_CASE("later stages unblock a source and a stage that block their threads") {
    weir::thread_pool pool(4);
    std::vector<int> seen;
    semaphore places(3);
    semaphore results(1);
    const auto source = [&places, n = 0]() mutable {
        places.acquire();
        return n < 50 ? std::optional<int>(n++) : std::nullopt;
    };
    const auto blocks = [&results](int n) {
        results.acquire();
        return n;
    };
    const auto frees = [&](int n) {
        seen.push_back(n);
        results.release();
        places.release();
    };
    const heard all = tried_on(pool, weir::source(source) | weir::pipe(blocks) | weir::for_each(frees), 100,
                               {.still = 5ms, .trial = 20ms});
    CHECK_FALSE(all.was_interrupted);
    CHECK(seen == all_below(50));
}

TEST_CASE("a stage that is stuck is tried with no more slots, and those behind it are, with what it gave") {
    weir::virtual_time time;
    weir::channel<int> places(10, time);
    const auto enter = [&places](int n) -> weir::task<int> {
        co_await places.put(0);
        co_return n;
    };
    std::vector<int> seen;
    const auto leave = [&](int n) -> weir::task<> {
        co_await places.get();
        seen.push_back(n);
    };
    const heard all =
        tried_on(time, weir::source(std::views::iota(0, 60)) | weir::pipe(enter) | weir::for_each(leave), 60,
                 {.still = 3s, .trial = 10s});
    REQUIRE(all.trials.at(1).size() == 3);
    CHECK(all.trials[1][0].end == weir::trial_end::stuck);
    CHECK(all.trials[1][0].num_items == 10);
    CHECK(all.trials[1][1].end == weir::trial_end::not_tried);
    CHECK(all.trials[1][1].concurrency == 2);
    CHECK(all.trials[1][2].end == weir::trial_end::not_tried);
    CHECK(all.trials.at(2).at(0).end == weir::trial_end::complete);
    CHECK(all.trials[2][0].num_items >= 10);
    CHECK(seen == all_below(60));
}

TEST_CASE("a first invocation that takes long is no stuck one") {
    const auto slow_at_first = [](int n) -> weir::task<int> {
        if (n == 0) co_await weir::sleep_for(8s);
        co_return n;
    };
    const heard all =
        tried(weir::source(std::views::iota(0, 50)) | weir::pipe(slow_at_first) | weir::for_each([](int) {}),
              50);
    for (const profile_trial& t : all.trials.at(1)) CHECK(t.end == weir::trial_end::complete);
}

TEST_CASE("as many trials are made as there are items for, those with the fewest slots") {
    for (const auto& [items, made] :
         {std::pair(3, 1), std::pair(23, 1), std::pair(24, 2), std::pair(44, 3)}) {
        CAPTURE(items);
        const heard all = tried(weir::source(std::views::iota(0, items)) | weir::pipe(in_10_ms) |
                                    weir::for_each([](int) {}),
                                100);
        const auto& trials = all.trials.at(1);
        REQUIRE(trials.size() == 3);
        for (int i = 0; i < 3; ++i) {
            const auto end = i < made ? weir::trial_end::complete : weir::trial_end::too_few;
            CHECK(trials[static_cast<std::size_t>(i)].end == end);
        }
        CHECK(trials[0].num_items >= static_cast<std::uint64_t>(std::min(items, 10)));
    }
}

TEST_CASE(
    "functions that don't await leave their executor a thread, where there are three, or as many as the run "
    "would") {
    const auto ends_of = [](unsigned threads, std::size_t concurrency, bool awaits, unsigned before = 0) {
        weir::thread_pool pool(before != 0 ? before : threads);
        pool.set_workers(threads);
        const weir::detail::trial_limits most{.still = 3s, .trial = 10s, .leaves_threads = true};
        const auto same = [](int n) { return n; };
        const auto later = [](int n) -> weir::task<int> { co_return n; };
        const auto stage = [&](auto f) {
            return tried_on(pool,
                            weir::source(std::views::iota(0, 100)) |
                                weir::pipe(f, {.concurrency = concurrency}) | weir::for_each([](int) {}),
                            100, most)
                .trials.at(1);
        };
        std::string all;
        for (const profile_trial& t : awaits ? stage(later) : stage(same)) {
            all += std::to_string(t.concurrency) + (t.end == weir::trial_end::no_thread ? "- " : " ");
        }
        return all;
    };
    CHECK(ends_of(1, 1, false) == "1 2- 5- ");
    CHECK(ends_of(2, 1, false) == "1 2 5- ");
    CHECK(ends_of(3, 1, false) == "1 2 5- ");
    CHECK(ends_of(4, 1, false) == "1 2 3 ");
    CHECK(ends_of(6, 1, false) == "1 2 5 ");
    CHECK(ends_of(2, 4, false) == "1 2 4 ");
    CHECK(ends_of(2, 1, true) == "1 2 5 ");
    CHECK(ends_of(2, 1, false, 8) == "1 2 5- ");  // the pool had 8 workers
}

TEST_CASE(
    "a stage that blocks threads until a later one frees them is let go on, however many places there are") {
    for (const int places : {1, 3, 10, 30, 60}) {
        weir::thread_pool pool(4);
        semaphore free(places);
        std::vector<int> seen;
        const auto take = [&free](int n) {
            free.acquire();
            return n;
        };
        const auto give_back = [&](int n) {
            seen.push_back(n);
            free.release();
        };
        tried_on(pool, weir::source(std::views::iota(0, 100)) | weir::pipe(take) | weir::for_each(give_back),
                 100, {.still = 5ms, .trial = 20ms, .leaves_threads = true});
        CHECK(seen == all_below(100));
    }
}
