#include <weir/insight/time_comparison.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace std::chrono_literals;
using Catch::Approx;
using recordings::awaiting;
using recordings::builder;
using weir::recording;
using weir::detail::change_of;
using weir::detail::find_other_times;
using weir::detail::mean_change;
using weir::detail::moments;
using weir::detail::natural_log;
using weir::detail::noise_of;
using weir::detail::normal_tail;
using weir::detail::time_sample;
using weir::detail::times_of;
using weir::detail::uncertain_mean;

TEST_CASE("logarithms are those of the standard library") {
    for (const double x : {1e-9, 0.1, 0.75, 1.0, 1.4, 1.5, 2.0, 10.0, 12345.0, 1e18}) {
        CHECK(natural_log(x) == Approx(std::log(x)).epsilon(1e-12).margin(1e-12));
    }
}

TEST_CASE("exponentials are those of the standard library") {
    for (const double x : {-700.0, -30.0, -5.0, -2.3, -0.5, -0.1, 0.0, 0.4, 1.0, 20.0, 700.0})
        CHECK(weir::detail::exponential(x) == Approx(std::exp(x)).epsilon(1e-8).margin(0));
}

TEST_CASE("quantiles of the normal distribution agree with the tables") {
    CHECK(normal_tail(0.5) == Approx(0).margin(1e-3));
    CHECK(normal_tail(0.025) == Approx(1.95996).margin(1e-3));
    CHECK(normal_tail(0.001) == Approx(3.09023).margin(1e-3));
    CHECK(normal_tail(1e-6) == Approx(4.75342).margin(1e-3));
}

TEST_CASE("mean and variance of weighted values") {
    moments m;
    m.add(1, 2);
    m.add(4, 1);
    m.add(9, 0);
    CHECK(m.mean() == Approx(2));
    CHECK(m.variance() == Approx(3));  // of 1, 1, 4
    m.add(2, 3, 0.5);
    CHECK(m.mean() == Approx(2));
    CHECK(m.variance() == Approx((6 + 1.5) / 5));
}

TEST_CASE("the times of a histogram: the mean is exact, and a bucket counts as a uniform distribution") {
    weir::stage_stats stage;
    stage.task_times.record(10ms, 50);
    stage.task_times.record(20ms, 50);
    const time_sample times = times_of(stage);
    CHECK(times.num_tasks == 100);
    CHECK(times.time.mean == Approx(15e6));
    CHECK(times.time.count == Approx(100));
    CHECK(std::sqrt(times.time.variance) == Approx(5e6).epsilon(0.03));
    CHECK(times.log_time.mean == Approx((std::log(10e6) + std::log(20e6)) / 2).epsilon(0.002));
    CHECK(std::sqrt(times.log_time.variance) == Approx(std::log(2.0) / 2).epsilon(0.03));
}

TEST_CASE("times leave out those in which the function was ready and had no thread") {
    weir::stage_stats stage;
    stage.task_times.record(10ms, 100);
    stage.task_time = 1s;
    stage.busy = 500ms;
    stage.per_slot.resize(1);
    stage.per_slot[0].run = 500ms;
    stage.per_slot[0].runnable = 500ms;
    CHECK(times_of(stage).time.mean == Approx(5e6));
}

TEST_CASE("times that are taken in sequence are known exactly") {
    const time_sample times = times_of(recordings::awaiting({10, 20}));
    CHECK(times.time.mean == Approx(15e6));
    CHECK(times.time.squared_error() == 0);
    CHECK(times.log_time.squared_error() == 0);
}

TEST_CASE("the average of a recording is that of all invocations; logarithms are those of the sample") {
    weir::recorded_stage stage = recordings::awaiting({10, 20, 30, 40});
    stage.in_sequence = false;
    CHECK(times_of(stage).time.count == Approx(1'000));
    CHECK(times_of(stage).log_time.count == Approx(4));
    stage.is_even = true;
    CHECK(times_of(stage).log_time.count == Approx(1'000));
}

TEST_CASE("times of failed invocations are in no mean") {
    weir::recorded_stage stage{.tasks = {{1ms, 0ms, 0, true}, {4ms, 0ms}, {8ms, 0ms}}, .num_tasks = 300};
    stage.num_failures = 100;
    const time_sample t = times_of(stage);
    CHECK(t.num_tasks == 200);
    CHECK(t.time.mean == Approx(6e6));
    CHECK(t.time.count == 200);
    CHECK(t.log_time.count == 2);
    stage.tasks.resize(1);
    CHECK(times_of(stage).time.mean == 0);
    CHECK(times_of(stage).log_time.count == 0);
}

TEST_CASE("the change of a mean in standard errors, and its interval") {
    // Of two samples of 100 values with a standard deviation of 1: the error is the square root of 0.02.
    const mean_change change = change_of(uncertain_mean{1, 1, 100}, uncertain_mean{1.5, 1, 100});
    CHECK(change.error == Approx(std::sqrt(0.02)));
    CHECK(change.freedom == Approx(198));
    // The t distribution with 198 degrees of freedom exceeds 3.5355 with a probability of 0.000255, as the normal one
    // exceeds 3.477.
    CHECK(change.distance() == Approx(3.477).margin(0.005));
    CHECK(change.share() == Approx(std::exp(0.5) - 1));
    CHECK(change.interval().low == Approx(std::exp(0.5 - 1.972 * std::sqrt(0.02)) - 1).margin(1e-3));
    CHECK(change.interval().high == Approx(std::exp(0.5 + 1.972 * std::sqrt(0.02)) - 1).margin(1e-3));
}

TEST_CASE("the distance grows steadily with the size of a change, and is 1000 at most") {
    for (const double freedom : {1.0, 5.0, 100.0, 1e9}) {
        double before = 0;
        for (double t = 0.5; t < 1e300; t *= t < 2'000 ? 1.01 : 10) {
            const double distance = mean_change{t, 1, freedom}.distance();
            CAPTURE(freedom, t);
            REQUIRE(distance >= before);
            REQUIRE((distance <= t * 1.001 && distance <= 1'000));
            before = distance;
        }
        CHECK(mean_change{1, 0, freedom}.distance() == 1'000);
        CHECK(mean_change{1, 5e-324, freedom}.distance() >= before);
    }
    CHECK(mean_change{999, 1, 5}.distance() == Approx(7.4).margin(0.1));
    CHECK(mean_change{1'000, 1, 5}.distance() == Approx(7.4).margin(0.1));
}

TEST_CASE("a change without any uncertainty is certain, and none is none") {
    CHECK(change_of(uncertain_mean{1, 0, 0}, uncertain_mean{1.1, 0, 0}).distance() > 100);
    CHECK(change_of(uncertain_mean{1, 0, 0}, uncertain_mean{1, 0, 0}).distance() == 0);
    CHECK(change_of(uncertain_mean{1, 4, 50}, uncertain_mean{1, 4, 50}).distance() == 0);
}

TEST_CASE("the average and the typical time may change apart from each other") {
    weir::recorded_stage before = recordings::awaiting({10, 10, 10, 10});
    weir::recorded_stage after = recordings::awaiting({8, 8, 8, 16});
    const auto change = change_of(times_of(before), times_of(after));
    CHECK(change.average.share() == Approx(0).margin(1e-9));
    CHECK(change.typical.share() < -0.04);
}

namespace {

recording with(const std::vector<std::int64_t>& stage, std::int64_t consumer = 10, std::uint64_t n = 100) {
    recording all =
        builder(awaiting({1})).stage({.name = "a"}, awaiting(stage)).consumed(awaiting({consumer}));
    for (auto& each : all.stages) each.num_tasks = n;
    return all;
}

}  // namespace

TEST_CASE("times have changed if the mean of a stage differs by more than a tenth, and more than by chance") {
    const recording before = with({100});
    CHECK(find_other_times(before, with({109})) == 4);
    CHECK(find_other_times(before, with({112})) == 1);
    CHECK(find_other_times(before, with({88})) == 1);
    // A mean of 25 with a deviation of 20: of 100 invocations, 2, and 0.2 of 10,000.
    CHECK(find_other_times(with({5, 45}), with({8, 50})) == 4);
    CHECK(find_other_times(with({5, 45}, 10, 10'000), with({8, 50}, 10, 10'000)) == 1);
    CHECK(find_other_times(recording(), before) == 0);
}

TEST_CASE("the time of the consumer has changed if it differs by more than three tenths") {
    CHECK(find_other_times(with({100}, 10), with({100}, 12)) == 4);
    CHECK(find_other_times(with({100}, 10), with({100}, 20)) == 3);
}

TEST_CASE("other times of a stage or a consumer that hardly works do not count") {
    const auto lap = [](const std::vector<std::int64_t>& stage, std::int64_t consumer, double rate) {
        recording all = with(stage, consumer);
        all.num_items = 100;
        all.rate = rate;
        return all;
    };
    const recording before = with({100}, 1);
    CHECK(find_other_times(before, lap({200}, 1, 0.2)) == 4);  // 20 s of 500 s
    CHECK(find_other_times(before, lap({200}, 1, 0.3)) == 1);
    CHECK(find_other_times(before, lap({100}, 9, 30)) == 4);  // 0.9 s of 3.3 s
    CHECK(find_other_times(before, lap({100}, 9, 40)) == 3);
}

TEST_CASE("a rate varies by chance with the times: twice the standard deviation of their mean") {
    CHECK(noise_of(with({10}), 100) == 0);
    CHECK(noise_of(with({5, 15}), 100) == Approx(2 * 0.5 / 10));
    CHECK(noise_of(with({5, 15}), 4) == Approx(0.2));
}
