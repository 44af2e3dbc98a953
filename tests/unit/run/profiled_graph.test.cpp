#include <weir/run/profiled_graph.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_report.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using weir::detail::profiled_run;
using namespace std::chrono_literals;

namespace {

// Does one thing a millisecond.
class script final : public weir::detail::run_profiler {
  public:
    using act = std::function<void(profiled_run&)>;
    script(std::vector<act> acts, bool& finished) : acts_(std::move(acts)), finished_(finished) {}

    std::optional<weir::time_point> step(profiled_run& run) override {
        if (next_ == acts_.size()) return std::nullopt;
        acts_[next_++](run);
        return run.current_time() + 1ms;
    }
    void finish(profiled_run&) override { finished_ = true; }
    void abandon(profiled_run&, std::exception_ptr) noexcept override { finished_ = true; }

  private:
    std::vector<act> acts_;
    std::size_t next_ = 0;
    bool& finished_;
};

// Runs `pipeline` behind what the script does; returns its statistics.
template <class P>
weir::pipeline_stats profiled(P pipeline, std::vector<script::act> acts) {
    weir::virtual_time time;
    bool finished = false;
    weir::detail::run_core<weir::measured> run(time, {},
                                               weir::detail::owned<weir::detail::run_profiler>(
                                                   new script(std::move(acts), finished)));
    auto& end = P::attach(std::move(pipeline), run);
    run.start();
    static_cast<void>(end.blocking_get());
    run.stop();
    CHECK(finished);
    return run.stats();
}

}  // namespace

TEST_CASE(
    "while a run is profiled, a stage begins with as many items as admitted, and later stages take them") {
    std::vector<int> seen;
    const auto count = [&seen] { return seen.size(); };
    profiled(weir::source({1, 2, 3, 4, 5}) | weir::pipe([](int n) { return n; }) |
                 weir::for_each([&seen](int n) { seen.push_back(n); }),
             {[&](profiled_run& run) {
                  CHECK(run.num_stages() == 3);
                  CHECK(run.name_of(2) == "for_each");
                  CHECK(run.can_change_slots(1));
                  CHECK_FALSE(run.can_change_slots(0));
                  CHECK_FALSE(run.can_change_slots(2));
                  run.add_capacity(0, 10);
                  run.admit(0, 4);
              },
              [&](profiled_run& run) {
                  CHECK(run.activity(0).is_idle);
                  CHECK(run.figures(0).results == 4);
                  CHECK(run.figures(1).num_tasks == 0);
                  CHECK(count() == 0);
                  run.admit(1, 3);
                  run.admit(2, 2);
              },
              [&](profiled_run& run) {
                  CHECK(run.figures(1).num_tasks == 3);
                  CHECK(run.figures(1).given == 4);
                  CHECK(count() == 2);
              }});
    CHECK(seen == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("after profiling, queues and slots are as they were described") {
    const auto in_1_ms = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    std::vector<int> all(100, 1);
    const auto stats = profiled(weir::source(all, {.capacity = 7}) | weir::pipe(in_1_ms, {.concurrency = 3}) |
                                    weir::for_each([](int) {}),
                                {[](profiled_run& run) {
                                     run.add_capacity(0, 50);
                                     run.set_slots(1, 8);
                                     run.admit(0, 50);
                                     run.admit(1, 8);
                                 },
                                 [](profiled_run& run) { CHECK_FALSE(run.activity(1).is_idle); },
                                 [](profiled_run& run) { run.set_slots(1, 1); }});
    CHECK(stats.channels[0].capacity == 7);
    CHECK(stats.stages[1].concurrency == 3);
    CHECK(stats.stages[1].num_tasks == 100);
}

TEST_CASE("a run continues if its profiler throws, and ends if it is stopped while it is profiled") {
    int seen = 0;
    const auto pipeline = weir::source({1, 2, 3}) | weir::for_each([&seen](int) { ++seen; });
    profiled(pipeline, {[](profiled_run&) { throw std::runtime_error("no"); }});
    CHECK(seen == 3);
    profiled(pipeline, {[](profiled_run& run) { run.admit(0, 1); },
                        [](profiled_run& run) {
                            run.end();
                            CHECK(run.was_interrupted());
                        }});
    CHECK(seen == 3);
}
