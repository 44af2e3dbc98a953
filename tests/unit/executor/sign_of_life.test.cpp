#include <weir/executor/sign_of_life.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <set>
#include <thread>
#include <vector>

using weir::detail::sign_of_life;

TEST_CASE("a sign tells when what had it has ended, and also when something else has it") {
    const sign_of_life::seen never(nullptr);
    CHECK_FALSE(sign_of_life::seen().is_over());
    sign_of_life* const one = sign_of_life::take();
    REQUIRE(one != nullptr);
    const sign_of_life::seen first(one);
    CHECK_FALSE(first.is_over());
    one->end();
    CHECK(first.is_over());
    sign_of_life* const again = sign_of_life::take();
    CHECK(again == one);
    const sign_of_life::seen second(again);
    CHECK(first.is_over());
    CHECK_FALSE(second.is_over());
    again->end();
    CHECK(second.is_over());
    CHECK_FALSE(never.is_over());
}

TEST_CASE("threads that take signs at once all have different ones, more than there were at first") {
    constexpr std::size_t each = 50;
    std::vector<std::vector<sign_of_life*>> taken(4);
    std::vector<std::thread> threads;
    for (auto& mine : taken) {
        threads.emplace_back([&mine] {
            for (std::size_t i = 0; i < each; ++i) mine.push_back(sign_of_life::take());
        });
    }
    for (std::thread& t : threads) t.join();
    std::set<sign_of_life*> all;
    for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
    CHECK(all.size() == 4 * each);
    CHECK(all.count(nullptr) == 0);
    for (sign_of_life* const one : all) one->end();
}
