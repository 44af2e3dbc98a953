#include <weir/platform/numbers.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

using weir::detail::add_interval;
using weir::detail::are_equal;
using weir::detail::digest;
using weir::detail::high_product;
using weir::detail::larger;
using weir::detail::mix64;
using weir::detail::number_as;
using weir::detail::read_sum;
using weir::detail::smaller;
using weir::detail::splitmix64;
using weir::detail::subseed;
using weir::detail::time_between;

static_assert(smaller(1, 2) == 1 && smaller(2, 1) == 1 && smaller(-1, -1) == -1);
static_assert(larger(1, 2) == 2 && larger(2, 1) == 2 && larger(-1, -1) == -1);

TEST_CASE("the smaller and the larger of two numbers are those of the standard") {
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t a : {limits::min(), std::int64_t{-1}, std::int64_t{0}, limits::max()}) {
        for (const std::int64_t b : {limits::min(), std::int64_t{-1}, std::int64_t{0}, limits::max()}) {
            CAPTURE(a, b);
            CHECK(smaller(a, b) == std::min(a, b));
            CHECK(larger(a, b) == std::max(a, b));
        }
    }
    CHECK(smaller(0.5, 1e9) == std::min(0.5, 1e9));
    CHECK(larger(0.5, 1e9) == std::max(0.5, 1e9));
}

TEST_CASE("number_as keeps the value of a number") {
    static_assert(std::is_same_v<decltype(number_as<std::size_t>(std::uint64_t{1})), std::size_t>);
    static_assert(number_as<int>(std::uint64_t{7}) == 7);
    static_assert(number_as<std::size_t>(std::size_t{7}) == 7);
    static_assert(number_as<std::uint16_t>(65535) == 65535);
}

TEST_CASE("are_equal compares as ==") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                     inf = std::numeric_limits<double>::infinity();
    for (const double a : {0.0, -0.0, 1.0, 1.0 + 1e-15, -inf, inf, nan, 5e-324}) {
        for (const double b : {0.0, -0.0, 1.0, 1.0 + 1e-15, -inf, inf, nan, 5e-324}) {
            CHECK(are_equal(a, b) == (a == b));
        }
    }
}

TEST_CASE("time_between is at most INT64_MAX") {
    constexpr std::int64_t most = INT64_MAX, least = INT64_MIN;
    CHECK(time_between(3, 10) == 7);
    CHECK(time_between(10, 3) == 0);
    CHECK(time_between(-5, 5) == 10);
    CHECK(time_between(0, most) == most);
    CHECK(time_between(-1, most) == most);
    CHECK(time_between(least, most) == most);
    CHECK(time_between(most, least) == 0);
}

TEST_CASE("add_interval is exact modulo 2^64, and read_sum is at most INT64_MAX") {
    CHECK(add_interval(5, 10, 13) == 8);
    std::int64_t whole = 0, part = 0;
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>(INT64_MIN, -3), {-3, INT64_MAX}}) {
        whole = add_interval(whole, from, to);
        if (to < 0) part = add_interval(part, from, to);
    }
    CHECK(read_sum(whole) == INT64_MAX);
    CHECK(read_sum(part) == INT64_MAX - 2);
    CHECK(read_sum(add_interval(part, 0, 2)) == INT64_MAX);
    CHECK(read_sum(add_interval(part, 0, 3)) == INT64_MAX);
}

TEST_CASE("the nearest integer rounds halves up") {
    CHECK(weir::detail::nearest<int>(0) == 0);
    CHECK(weir::detail::nearest<int>(2.49) == 2);
    CHECK(weir::detail::nearest<int>(2.5) == 3);
}

TEST_CASE("a number without a nearest integer becomes one that there is") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    STATIC_REQUIRE(weir::detail::nearest<std::uint32_t>(1e30) == UINT32_MAX);
    STATIC_REQUIRE(weir::detail::nearest<std::int64_t>(1e30) == 9'200'000'000'000'000'000);
    STATIC_REQUIRE(weir::detail::nearest<int>(nan) == 0);
}

// The values of S. Vigna's splitmix64.c for the seed 1234567.
static_assert(splitmix64(1234567, 0) == 6457827717110365317U);
static_assert(splitmix64(1234567, 1) == 3203168211198807973U);
static_assert(splitmix64(1234567, 2) == 9817491932198370423U);
static_assert(splitmix64(0, 0) == 0xe220a8397b1dcdafU);

static_assert(high_product(0, UINT64_MAX) == 0);
static_assert(high_product(std::uint64_t{1} << 32, std::uint64_t{1} << 32) == 1);
static_assert(high_product(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
static_assert(high_product(UINT64_MAX, 2) == 1);
static_assert(high_product(UINT64_MAX, 10) == 9);

TEST_CASE("a bit that changes changes about half of the bits of a mixture") {
    for (unsigned bit = 0; bit < 64; ++bit) {
        int changed = 0;
        for (std::uint64_t i = 0; i < 256; ++i) {
            changed += std::popcount(mix64(i) ^ mix64(i ^ (std::uint64_t{1} << bit)));
        }
        CAPTURE(bit);
        CHECK(changed > 256 * 28);
        CHECK(changed < 256 * 36);
    }
}

TEST_CASE("the upper half of a product fits its lower half") {
    // a * b = upper * 2^64 + lower, looked at modulo a prime, for which 2^64 is 16 * 2^60.
    constexpr std::uint64_t prime = 4294967291;
    constexpr std::uint64_t two_64 = (UINT64_MAX % prime + 1) % prime;
    bool all = true;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        const std::uint64_t a = splitmix64(1, i) >> (i % 60), b = splitmix64(2, i) >> (i % 37);
        const std::uint64_t whole = (a % prime) * (b % prime) % prime;
        const std::uint64_t parts = (high_product(a, b) % prime * two_64 % prime + a * b % prime) % prime;
        all = all && whole == parts;
    }
    CHECK(all);
}

TEST_CASE("seeds of different uses differ, those of nearby seeds too") {
    std::set<std::uint64_t> seeds;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t use = 0; use < 100; ++use) seeds.insert(subseed(seed, use));
    }
    CHECK(seeds.size() == 10'000);
}

TEST_CASE("a digest depends on each word, their order and their number") {
    CHECK(digest().add(1).add(2).value() == digest().add(1).add(2).value());
    CHECK(digest().add(1).add(2).value() != digest().add(2).add(1).value());
    CHECK(digest().add(0).value() != digest().add(0).add(0).value());
    CHECK(digest().value() != digest().add(0).value());
}
