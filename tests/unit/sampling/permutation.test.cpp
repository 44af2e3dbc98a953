#include <weir/sampling/permutation.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

using weir::permutation;

static_assert(std::is_trivially_copyable_v<permutation>);
static_assert(sizeof(permutation) <= 80);
static_assert(permutation(10, 3).index_of(permutation(10, 3)[7]) == 7);

namespace {

std::vector<std::uint64_t> all_of(const permutation& p) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < p.size(); ++i) all.push_back(p[i]);
    return all;
}

bool is_permutation(const permutation& p) {
    std::vector<bool> seen(p.size(), false);
    for (std::uint64_t i = 0; i < p.size(); ++i) {
        const std::uint64_t x = p[i];
        if (x >= p.size() || seen[x] || p.index_of(x) != i) return false;
        seen[x] = true;
    }
    return true;
}

// By how many standard deviations the sum of squares is off from what equal chances give.
double deviation(const std::vector<double>& counts) {
    const double mean =
        std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
    double sum = 0;
    for (const double c : counts) sum += (c - mean) * (c - mean) / mean;
    const double freedom = static_cast<double>(counts.size()) - 1;
    return (sum - freedom) / std::sqrt(2 * freedom);
}

}  // namespace

TEST_CASE("a permutation gives each number once, and knows its place") {
    for (std::uint64_t n = 0; n <= 300; ++n) {
        CAPTURE(n);
        bool each = true;
        for (std::uint64_t seed = 0; seed < 8; ++seed) each = each && is_permutation({n, seed});
        CHECK(each);
    }
    for (const std::uint64_t n :
         {1'023U, 1'024U, 1'025U, 4'095U, 4'097U, 10'000U, 65'535U, 65'536U, 65'537U, 100'003U}) {
        CAPTURE(n);
        CHECK(is_permutation(permutation(n, n)));
    }
}

TEST_CASE("a permutation of very many numbers is one to one as well") {
    for (const std::uint64_t n :
         {std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 62,
          std::uint64_t{1} << 63, UINT64_MAX - 1, UINT64_MAX}) {
        const permutation p(n, 5);
        bool each = true;
        for (std::uint64_t i = 0; i < 1'000; ++i) {
            for (const std::uint64_t place : {i, n - 1 - i, n / 2 + i, n / 1'000 * i}) {
                each = each && p[place] < n && p.index_of(p[place]) == place;
            }
        }
        CAPTURE(n);
        CHECK(each);
    }
}

TEST_CASE("a permutation of nothing has no places, that of one number one") {
    CHECK(permutation().size() == 0);
    CHECK(permutation(0, 7).size() == 0);
    CHECK_THROWS_AS(permutation(0, 7).at(0), std::out_of_range);
    CHECK_THROWS_AS(permutation(0, 7).index_of(0), std::out_of_range);
    CHECK(permutation(1, 7).at(0) == 0);
    CHECK_THROWS_AS(permutation(1, 7).at(1), std::out_of_range);
    CHECK_THROWS_AS(permutation(9, 7).index_of(9), std::out_of_range);
}

TEST_CASE("a permutation is that of its seed, and another one for another seed") {
    CHECK(permutation(100, 1) == permutation(100, 1));
    CHECK(all_of({1'000, 1}) != all_of({1'000, 2}));
    // As many fixed points as chance gives: one of a thousand places.
    int same = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const permutation a(1'000, seed), b(1'000, seed + 1);
        for (std::uint64_t i = 0; i < 1'000; ++i) same += a[i] == b[i] ? 1 : 0;
    }
    CHECK(same > 850);
    CHECK(same < 1'150);
}

TEST_CASE("a permutation never changes: a run that is resumed relies on it") {
    using list = std::vector<std::uint64_t>;
    CHECK(all_of({2, 1}) == list{1, 0});
    CHECK(all_of({10, 0}) == list{5, 0, 2, 6, 8, 3, 7, 1, 9, 4});
    CHECK(all_of({10, 1}) == list{8, 3, 7, 6, 9, 5, 4, 1, 2, 0});
    const permutation million(1'000'000, 42);
    CHECK(list{million[0], million[1], million[2], million[999'999]} == list{393989, 847568, 357328, 319793});
    const permutation most(UINT64_MAX, 42);
    CHECK(list{most[0], most[1], most[UINT64_MAX - 1]} ==
          list{13469548152917916191U, 3395623042915520516U, 11957867635484085678U});
}

// Where the first byte of a number is the highest, libstdc++ 12 compares an eighth of two vectors by `<`.
struct earlier {
    bool operator()(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

TEST_CASE("of all seeds, each order of few numbers comes equally often") {
    for (const std::uint64_t n : {2U, 3U, 4U, 5U, 6U}) {
        std::vector<std::uint64_t> order(n);
        std::iota(order.begin(), order.end(), std::uint64_t{0});
        std::map<std::vector<std::uint64_t>, double, earlier> times;
        do {
            times[order] = 0;
        } while (std::next_permutation(order.begin(), order.end()));
        for (std::uint64_t seed = 0; seed < 20'000; ++seed) ++times[all_of({n, seed})];
        std::vector<double> counts;
        for (const auto& [which, count] : times) counts.push_back(count);
        CAPTURE(n);
        CHECK(std::abs(deviation(counts)) < 4);
    }
}

TEST_CASE("of all seeds, each number comes to each place, and behind each other one, equally often") {
    for (const std::uint64_t n : {7U, 9U, 16U, 37U, 64U, 100U}) {
        std::vector<double> at_place(n * n), steps(n);
        for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
            const std::vector<std::uint64_t> order = all_of({n, seed});
            for (std::uint64_t i = 0; i < n; ++i) ++at_place[i * n + order[i]];
            ++steps[(order[n / 2] + n - order[n / 2 - 1]) % n];
        }
        steps.erase(steps.begin());  // no number follows itself
        CAPTURE(n);
        CHECK(std::abs(deviation(at_place)) < 4);
        CHECK(std::abs(deviation(steps)) < 4);
    }
}

TEST_CASE("within a permutation neighbours are nothing to each other") {
    constexpr std::uint64_t n = 1'000'000, cells = 32;
    for (const std::uint64_t distance : {1U, 2U, 1'000U, 1'001U}) {
        const permutation p(n, 9);
        std::vector<double> pairs(cells * cells);
        for (std::uint64_t i = 0; i < 200'000; ++i) {
            ++pairs[p[i] * cells / n * cells + p[i + distance] * cells / n];
        }
        CAPTURE(distance);
        CHECK(std::abs(deviation(pairs)) < 4);
    }
}
