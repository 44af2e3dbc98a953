#include <weir/graph/fan_in.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using weir::merge_order;
using weir::detail::admission;
using weir::detail::merge_rule;
using weir::detail::merge_ticket;

namespace {

merge_ticket item(std::size_t input, std::uint64_t epoch = 0) {
    merge_ticket t;
    t.input = input;
    t.epoch = epoch;
    return t;
}
merge_ticket mark(std::size_t input, std::uint64_t epoch) {
    merge_ticket t = item(input, epoch);
    t.mark = true;
    return t;
}

// It has something, and asks.
admission come(merge_rule& rule, const merge_ticket& t) {
    rule.arrive(t);
    return rule.ask(t);
}

// Who gives the next n items, where each of the inputs always has one: 'a' is the first.
std::string turns(merge_rule& rule, std::size_t inputs, int n) {
    std::string order;
    for (std::size_t i = 0; i < inputs; ++i) rule.arrive(item(i));
    for (; n > 0; --n) {
        std::size_t going = inputs;
        for (std::size_t i = 0; i < inputs; ++i) {
            if (rule.ask(item(i)) == admission::go) going = i;
        }
        if (going == inputs) return order + "?";
        rule.leave(item(going), true);
        order += static_cast<char>('a' + going);
    }
    return order;
}

merge_rule rule_of(merge_order order, std::vector<double> weights, bool until_first_end = false,
                   std::uint64_t first_epoch = 0) {
    merge_rule::settings how;
    how.order = order;
    how.weights = std::move(weights);
    how.seed = 7;
    how.until_first_end = until_first_end;
    return merge_rule(how, first_epoch);
}

}  // namespace

TEST_CASE("by arrival every item may go, whoever gives at the moment") {
    auto rule = rule_of(merge_order::arrival, {1, 1});
    CHECK(come(rule, item(0)) == admission::go);
    CHECK(come(rule, item(1)) == admission::go);
    rule.leave(item(1), false);
    CHECK(come(rule, item(1)) == admission::go);
}

TEST_CASE("in turns only one gives at a time, and the next one when it has given") {
    auto rule = rule_of(merge_order::round_robin, {1, 1});
    CHECK(come(rule, item(1)) == admission::wait);
    CHECK(come(rule, item(0)) == admission::go);
    CHECK(rule.ask(item(1)) == admission::wait);
    rule.leave(item(0), true);
    CHECK(rule.ask(item(0)) == admission::wait);
    CHECK(rule.ask(item(1)) == admission::go);
    rule.leave(item(1), false);
    CHECK(rule.ask(item(0)) == admission::go);
    auto three = rule_of(merge_order::round_robin, {1, 1, 1});
    CHECK(turns(three, 3, 7) == "abcabca");
}

TEST_CASE("who ends while it has its turn, or before, or after, is left out of a row that goes on") {
    for (std::size_t given = 0; given < 6; ++given) {
        for (std::size_t who = 0; who < 3; ++who) {
            auto rule = rule_of(merge_order::round_robin, {1, 1, 1});
            const std::string before = turns(rule, 3, static_cast<int>(given));
            rule.end(who);
            std::string all = before;
            std::string expected = before;
            // The row, from where it stood, without that one.
            std::size_t next = given % 3;
            for (int i = 0; i < 6; ++next) {
                if (next % 3 == who) continue;
                expected += static_cast<char>('a' + next % 3);
                ++i;
            }
            for (int i = 0; i < 6; ++i) {
                for (std::size_t k = 0; k < 3; ++k) {
                    if (k == who || come(rule, item(k)) != admission::go) continue;
                    rule.leave(item(k), true);
                    all += static_cast<char>('a' + k);
                    break;
                }
            }
            CAPTURE(given, who);
            CHECK(all == expected);
        }
    }
}

TEST_CASE("weights are spread as evenly as can be") {
    auto rule = rule_of(merge_order::weighted, {5, 1, 1});
    CHECK(turns(rule, 3, 14) == "aabacaaaabacaa");
    auto equal = rule_of(merge_order::weighted, {7, 7});
    CHECK(turns(equal, 2, 6) == "ababab");
    auto with_none = rule_of(merge_order::weighted, {0, 2, 1});
    CHECK(turns(with_none, 3, 6) == "bcbbcb");
    auto none = rule_of(merge_order::weighted, {0, 0});
    CHECK(turns(none, 2, 5) == "ababa");
}

TEST_CASE("the one of weight 0 waits for all others, whatever they had saved when they ended") {
    for (int given = 0; given < 30; ++given) {
        auto rule = rule_of(merge_order::weighted, {0, 1, 10});
        CHECK(turns(rule, 3, given).find('a') == std::string::npos);
        rule.end(2);
        for (int i = 0; i < 20; ++i) {
            CHECK(come(rule, item(0)) == admission::wait);
            REQUIRE(come(rule, item(1)) == admission::go);
            rule.leave(item(1), true);
        }
        rule.end(1);
        CHECK(rule.ask(item(0)) == admission::go);
    }
}

TEST_CASE("those of weight 0 take turns when all others have ended, and after one of them has ended") {
    for (int given = 0; given < 12; ++given) {
        auto rule = rule_of(merge_order::weighted, {0, 1, 0, 10, 0});
        static_cast<void>(turns(rule, 5, given));
        rule.end(3);
        rule.end(1);
        CHECK(turns(rule, 5, 7) == "aceacea");
        rule.end(2);
        const std::string rest = turns(rule, 5, 4);
        CHECK((rest == "aeae" || rest == "eaea"));
    }
}

TEST_CASE("by priority an item goes if no input before has one, now or at once") {
    auto rule = rule_of(merge_order::priority, {1, 1, 1});
    CHECK(come(rule, item(2)) == admission::go);
    CHECK(come(rule, item(1)) == admission::wait);  // one is giving
    CHECK(come(rule, item(0)) == admission::wait);
    rule.leave(item(2), true);
    CHECK(rule.ask(item(2)) == admission::wait);
    CHECK(rule.ask(item(1)) == admission::wait);
    CHECK(rule.ask(item(0)) == admission::go);
    rule.leave(item(0), true);  // its next one is there
    CHECK(rule.ask(item(1)) == admission::wait);
    CHECK(come(rule, item(0)) == admission::go);
    rule.leave(item(0), false);
    CHECK(rule.ask(item(2)) == admission::wait);
    CHECK(rule.ask(item(1)) == admission::go);
    rule.leave(item(1), false);
    rule.end(0);
    CHECK(rule.ask(item(2)) == admission::go);
}

TEST_CASE("a mark goes once for all, when each is at it or has ended, and nobody gives") {
    for (const merge_order order :
         {merge_order::arrival, merge_order::round_robin, merge_order::weighted, merge_order::priority}) {
        auto rule = rule_of(order, {1, 1, 1}, false, 4);
        CHECK(come(rule, mark(0, 4)) == admission::wait);
        CHECK(come(rule, mark(1, 4)) == admission::wait);
        CHECK(come(rule, item(2, 4)) == admission::go);
        CHECK(rule.ask(mark(0, 4)) == admission::wait);
        rule.leave(item(2, 4), true);
        CHECK(rule.ask(mark(0, 4)) == admission::wait);
        CHECK(come(rule, mark(2, 4)) == admission::go);
        CHECK(rule.ask(mark(0, 4)) == admission::wait);
        rule.leave(mark(2, 4), true);
        CHECK(rule.ask(mark(0, 4)) == admission::refused);
        CHECK(rule.ask(mark(1, 4)) == admission::refused);
        CHECK_FALSE(rule.is_closed());
        // The next epoch, without the one that has ended.
        rule.end(1);
        CHECK(come(rule, item(0, 5)) == admission::go);
        rule.leave(item(0, 5), false);
        CHECK(come(rule, mark(2, 5)) == admission::wait);
        CHECK(come(rule, mark(0, 5)) == admission::go);
        rule.leave(mark(0, 5), false);
        CHECK(rule.ask(mark(2, 5)) == admission::refused);
        // Whoever is left alone waits for nobody.
        rule.end(0);
        CHECK(come(rule, mark(2, 6)) == admission::go);
    }
}

TEST_CASE("the end of one input lets a mark go that waited for it only") {
    auto rule = rule_of(merge_order::arrival, {1, 1});
    CHECK(come(rule, mark(0, 0)) == admission::wait);
    rule.end(1);
    CHECK(rule.ask(mark(0, 0)) == admission::go);
}

TEST_CASE("where an input has ended before its time, no mark goes any more, and items do") {
    auto rule = rule_of(merge_order::arrival, {1, 1});
    CHECK(come(rule, mark(0, 0)) == admission::wait);
    rule.end(1, true);
    CHECK(rule.is_incomplete());
    CHECK(rule.ask(mark(0, 0)) == admission::refused);
    CHECK(come(rule, item(0)) == admission::go);
    CHECK_FALSE(rule.is_closed());
    auto whole = rule_of(merge_order::arrival, {1, 1});
    whole.end(1);
    CHECK_FALSE(whole.is_incomplete());
    CHECK(come(whole, mark(0, 0)) == admission::go);
}

TEST_CASE("with the first end all end, if that is asked for; and when nobody wants more") {
    auto first = rule_of(merge_order::arrival, {1, 1}, true);
    CHECK(come(first, item(1)) == admission::go);
    first.end(0);
    CHECK(first.is_closed());
    CHECK(first.ask(item(1)) == admission::refused);
    CHECK(first.ask(mark(1, 0)) == admission::refused);
    auto closed = rule_of(merge_order::round_robin, {1, 1});
    closed.close();
    CHECK(come(closed, item(0)) == admission::refused);
}

TEST_CASE("by lot each comes as often as its weight says, the same by the same seed") {
    const auto shares = [](std::vector<double> weights, std::uint64_t seed, int n) {
        merge_rule::settings how;
        how.order = merge_order::random;
        how.weights = std::move(weights);
        how.seed = seed;
        merge_rule rule(how, 0);
        return turns(rule, how.weights.size(), n);
    };
    // Of any platform: these are the numbers of SplitMix64.
    CHECK(shares({0.5, 0.3, 0.2}, 7, 24) == "bacabbbacbaababbcbbacccb");
    CHECK(shares({5, 3, 2}, 7, 24) == shares({0.5, 0.3, 0.2}, 7, 24));
    CHECK(shares({5, 3, 2}, 7, 24) != shares({5, 3, 2}, 8, 24));
    CHECK(shares({1, 0, 2}, 3, 500).find('b') == std::string::npos);
    // Chi-square of 2 degrees of freedom: one of 200 is beyond 18 with a probability of 2.5 %.
    const double weights[] = {0.5, 0.3, 0.2};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::string all = shares({0.5, 0.3, 0.2}, seed, 1000);
        double deviation = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto came = static_cast<double>(std::ranges::count(all, static_cast<char>('a' + i)));
            deviation += (came - 1000 * weights[i]) * (came - 1000 * weights[i]) / (1000 * weights[i]);
        }
        CAPTURE(seed);
        CHECK(deviation < 18);
    }
}

TEST_CASE("by lot the one of weight 0 waits for all others; several of them are alike") {
    auto rule = rule_of(merge_order::random, {0, 1, 0});
    CHECK(turns(rule, 3, 40) == std::string(40, 'b'));
    rule.end(1);
    const std::string rest = turns(rule, 3, 40);
    CHECK(rest.find('b') == std::string::npos);
    CHECK(std::ranges::count(rest, 'a') > 10);
    CHECK(std::ranges::count(rest, 'c') > 10);
}

TEST_CASE("by lot a tiny weight is none of 0") {
    auto rule = rule_of(merge_order::random, {0, 1, 1e-300});
    CHECK(turns(rule, 3, 40) == std::string(40, 'b'));
    rule.end(1);
    CHECK(turns(rule, 3, 40) == std::string(40, 'c'));
}

TEST_CASE("who is asked for a choice is alone with it, and hears of no input that has ended by its choice") {
    merge_rule::settings how;
    how.weights = {1, 1, 1};
    how.has_user_rule = true;
    merge_rule rule(how, 0);
    std::vector<std::size_t> open(3);
    REQUIRE(rule.claim_choice(open));
    CHECK(open == std::vector<std::size_t>{0, 1, 2});
    CHECK_FALSE(rule.claim_choice(open));
    CHECK(come(rule, item(2)) == admission::wait);
    rule.choose(2);
    CHECK(rule.ask(item(2)) == admission::go);
    rule.leave(item(2), true);
    rule.end(0);
    REQUIRE(rule.claim_choice(open));
    CHECK(open == std::vector<std::size_t>{0, 1, 2});
    rule.choose(0);
    REQUIRE(rule.claim_choice(open));
    CHECK(open == std::vector<std::size_t>{1, 2});
    // A mark waits until each that is at it was chosen.
    CHECK(come(rule, mark(1, 0)) == admission::wait);
    CHECK(come(rule, mark(2, 0)) == admission::wait);
    rule.choose(1);
    REQUIRE(rule.claim_choice(open));
    CHECK(open == std::vector<std::size_t>{2});
    CHECK(rule.ask(mark(2, 0)) == admission::wait);
    rule.choose(2);
    CHECK_FALSE(rule.claim_choice(open));
    CHECK(rule.ask(mark(2, 0)) == admission::go);
    rule.leave(mark(2, 0), false);
    CHECK(rule.claim_choice(open));
    CHECK(open.size() == 3);
}
