#include <weir/insight/time_drift.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <cstdint>
#include <vector>

using Catch::Approx;
using recordings::awaiting;
using recordings::builder;
using weir::recording;
using weir::detail::find_other_times;
using weir::detail::noise_of;

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
