#include <weir/simulation/decisions.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace sim = weir::simulation;
using Catch::Matchers::ContainsSubstring;
using sim::detail::decisions;

namespace {

std::vector<std::size_t> choose_ten(decisions& d, std::size_t n) {
    std::vector<std::size_t> all;
    for (int i = 0; i < 10; ++i) all.push_back(d.choose(n));
    return all;
}

}  // namespace

TEST_CASE("without a strategy everything is first come, first served") {
    decisions d;
    d.begin(7);
    CHECK(choose_ten(d, 3) == std::vector<std::size_t>(10, 0));
}

TEST_CASE("where there is one thing to choose from, nothing is decided") {
    decisions d;
    d.be_random();
    d.begin(7);
    CHECK(d.choose(1) == 0);
    CHECK(d.made().empty());
}

TEST_CASE("the same seed makes the same decisions, another one makes others") {
    decisions d;
    d.be_random();
    d.begin(7);
    const auto first = choose_ten(d, 5);
    const auto mark = d.digest();
    d.begin(8);
    CHECK(choose_ten(d, 5) != first);
    CHECK(d.digest() != mark);
    d.begin(7);
    CHECK(choose_ten(d, 5) == first);
    CHECK(d.digest() == mark);
}

TEST_CASE("random decisions reach each of what is offered") {
    decisions d;
    d.be_random();
    d.begin(1);
    std::set<std::size_t> seen;
    for (int i = 0; i < 200; ++i) seen.insert(d.choose(7));
    CHECK(seen == std::set<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("decisions that are given are made first, within what is offered") {
    decisions d;
    const std::uint32_t given[] = {2, 0, 9};
    d.begin(0, given);
    CHECK(d.choose(3) == 2);
    CHECK(d.choose(3) == 0);
    CHECK(d.choose(3) == 2);
    CHECK(d.choose(3) == 0);
    CHECK(d.made().size() == 4);
}

TEST_CASE("by priority, one of two goes on until it is overtaken at one of depth - 1 steps") {
    char coroutines[3];
    void* const who[] = {coroutines, coroutines + 1, coroutines + 2};
    decisions d;
    d.be_by_priority(3);
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        d.begin(seed, {}, 20);
        std::size_t changes = 0;
        std::size_t before = d.choose(who);
        for (int i = 0; i < 40; ++i) {
            const std::size_t next = d.choose(who);
            if (next != before) ++changes;
            before = next;
        }
        CHECK(changes <= 2);
    }
}

TEST_CASE("by priority, each of three is the first to go for some seed, and each order of two changes") {
    char coroutines[3];
    void* const who[] = {coroutines, coroutines + 1, coroutines + 2};
    decisions d;
    d.be_by_priority(2);
    std::set<std::size_t> first;
    std::set<std::size_t> last;
    for (std::uint64_t seed = 1; seed < 100; ++seed) {
        d.begin(seed, {}, 10);
        first.insert(d.choose(who));
        std::size_t then = 0;
        for (int i = 0; i < 10; ++i) then = d.choose(who);
        last.insert(then);
    }
    CHECK(first.size() == 3);
    CHECK(last.size() == 3);
}

TEST_CASE("a schedule as text names the decisions that are not the first on offer") {
    CHECK(sim::detail::to_text({0, 0, 2, 0, 1, 0}) == "2:2 4:1");
    CHECK(sim::detail::from_text("2:2 4:1") == std::vector<std::uint32_t>{0, 0, 2, 0, 1});
    CHECK(sim::detail::to_text({0, 0}) == "0:0");
    CHECK(sim::detail::from_text("0:0") == std::vector<std::uint32_t>{0});
}

TEST_CASE("what is no schedule is refused with a sentence") {
    for (const char* const text : {"3", "3:", ":1", "3:1,4:1", "x", "3:1x", "99999999999:1", "3:-1"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH(sim::detail::from_text(text), ContainsSubstring("is no schedule"));
    }
}
