#include <weir/run/rehearsed_graph.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_interfaces.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using weir::detail::rehearsed_run;
using namespace std::chrono_literals;

namespace {

// Does one thing a millisecond.
class script final : public weir::detail::rehearsal {
  public:
    using act = std::function<void(rehearsed_run&)>;
    script(std::vector<act> acts, bool& finished) : acts_(std::move(acts)), finished_(finished) {}

    std::optional<weir::time_point> step(rehearsed_run& run) override {
        if (next_ == acts_.size()) return std::nullopt;
        acts_[next_++](run);
        return run.instant() + 1ms;
    }
    void finish(rehearsed_run&) override { finished_ = true; }
    void gave_up(rehearsed_run&, std::exception_ptr) noexcept override { finished_ = true; }

  private:
    std::vector<act> acts_;
    std::size_t next_ = 0;
    bool& finished_;
};

// Runs `pipeline` behind what the script does; returns its statistics.
template <class P>
weir::pipeline_stats rehearse(P pipeline, std::vector<script::act> acts) {
    weir::virtual_time time;
    bool finished = false;
    weir::detail::run_core<weir::measured> run(time, {}, std::make_unique<script>(std::move(acts), finished));
    auto& end = P::attach(std::move(pipeline), run);
    run.start();
    static_cast<void>(end.blocking_get());
    run.stop();
    CHECK(finished);
    return run.stats();
}

}  // namespace

TEST_CASE("in a rehearsal a stage begins with as many items as it is let, and all go on behind it") {
    std::vector<int> seen;
    const auto count = [&seen] { return seen.size(); };
    rehearse(weir::source({1, 2, 3, 4, 5}) | weir::pipe([](int n) { return n; }) |
                 weir::for_each([&seen](int n) { seen.push_back(n); }),
             {[&](rehearsed_run& run) {
                  CHECK(run.num_stages() == 3);
                  CHECK(run.name_of(2) == "for_each");
                  CHECK(run.takes_slots(1));
                  CHECK_FALSE(run.takes_slots(0));
                  CHECK_FALSE(run.takes_slots(2));
                  run.make_room(0, 10);
                  run.let_in(0, 4);
              },
              [&](rehearsed_run& run) {
                  CHECK(run.rest(0).is_at_rest);
                  CHECK(run.figures(0).results == 4);
                  CHECK(run.figures(1).num_tasks == 0);
                  CHECK(count() == 0);
                  run.let_in(1, 3);
                  run.let_in(2, 2);
              },
              [&](rehearsed_run& run) {
                  CHECK(run.figures(1).num_tasks == 3);
                  CHECK(run.figures(1).given == 4);
                  CHECK(count() == 2);
              }});
    CHECK(seen == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("what a rehearsal has changed is as it was when it is over") {
    const auto in_1_ms = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    std::vector<int> all(100, 1);
    const auto stats = rehearse(weir::source(all, {.capacity = 7}) | weir::pipe(in_1_ms, {.concurrency = 3}) |
                                    weir::for_each([](int) {}),
                                {[](rehearsed_run& run) {
                                     run.make_room(0, 50);
                                     run.set_slots(1, 8);
                                     run.let_in(0, 50);
                                     run.let_in(1, 8);
                                 },
                                 [](rehearsed_run& run) { CHECK_FALSE(run.rest(1).is_at_rest); },
                                 [](rehearsed_run& run) { run.set_slots(1, 1); }});
    CHECK(stats.channels[0].capacity == 7);
    CHECK(stats.stages[1].concurrency == 3);
    CHECK(stats.stages[1].num_tasks == 100);
}

TEST_CASE("a run goes on where its rehearsal throws, and where it is stopped in the middle of one it ends") {
    int seen = 0;
    const auto pipeline = weir::source({1, 2, 3}) | weir::for_each([&seen](int) { ++seen; });
    rehearse(pipeline, {[](rehearsed_run&) { throw std::runtime_error("no"); }});
    CHECK(seen == 3);
    rehearse(pipeline, {[](rehearsed_run& run) { run.let_in(0, 1); },
                        [](rehearsed_run& run) {
                            run.end();
                            CHECK(run.is_cut_short());
                        }});
    CHECK(seen == 3);
}
