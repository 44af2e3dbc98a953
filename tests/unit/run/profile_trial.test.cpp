#include <weir/run/profile_trial.hpp>

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

using weir::profile_trial;
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
        const std::size_t enough = s.enough(n);
        CHECK(s.trials(enough) == n);
        CHECK(s.trials(enough - 1) == (n == 1 ? 1 : n - 1));
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(s.share(i, n, enough, enough) >= 4 * slots[i]);
            CHECK(s.share(i, n, enough, enough) + slots[i] > 10);
        }
    }
    CHECK(s.enough(5) == 354);
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
