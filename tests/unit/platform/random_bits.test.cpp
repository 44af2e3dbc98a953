#include <weir/platform/random_bits.hpp>

#include "support/catch.hpp"

#include <bit>
#include <cstdint>
#include <set>

using weir::detail::digest;
using weir::detail::high_product;
using weir::detail::mix64;
using weir::detail::splitmix64;
using weir::detail::subseed;

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
