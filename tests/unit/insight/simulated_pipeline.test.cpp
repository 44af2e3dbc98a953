#include <weir/insight/simulated_pipeline.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

using weir::detail::fifo;

TEST_CASE("a fifo gives its values in the order in which they came, while it grows and wraps around") {
    fifo<int> queue;
    int next_in = 0, next_out = 0;
    for (int round = 1; round < 40; ++round) {
        for (int i = 0; i < round; ++i) queue.push(next_in++);
        for (int i = 0; i < round / 2; ++i) REQUIRE(queue.pop() == next_out++);
    }
    while (!queue.empty()) REQUIRE(queue.pop() == next_out++);
    CHECK(next_out == next_in);
    CHECK(queue.size() == 0);
}

TEST_CASE("an order of draws has each number once, and depends on the seed") {
    const std::vector<std::uint32_t> one = weir::detail::shuffled(100, 1);
    CHECK(std::set<std::uint32_t>(one.begin(), one.end()).size() == 100);
    CHECK(*std::set<std::uint32_t>(one.begin(), one.end()).rbegin() == 99);
    CHECK(one == weir::detail::shuffled(100, 1));
    CHECK(one != weir::detail::shuffled(100, 2));
    CHECK(weir::detail::shuffled(0, 1).empty());
}
