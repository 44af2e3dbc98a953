#include <weir/run/failure_tally.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using weir::failure_limit;
using weir::rate;
using weir::detail::failure_tally;

namespace {

const std::string stage = "p";

std::exception_ptr error_of(int n) { return std::make_exception_ptr(std::runtime_error(std::to_string(n))); }

bool fails(failure_tally& tally, int n) {
    return tally.failed(failure_tally::culprit{&stage, static_cast<std::uint64_t>(n), error_of(n)});
}

}  // namespace

TEST_CASE("a count is judged by each failure") {
    failure_tally tally{failure_limit(2)};
    CHECK_FALSE(tally.is_rate());
    CHECK_FALSE(fails(tally, 0));
    CHECK_FALSE(fails(tally, 1));
    CHECK(fails(tally, 2));
    CHECK(fails(tally, 3));
}

TEST_CASE("what failed in the probation is kept for the judgement at its end, and nothing after that") {
    failure_tally tally{rate(0.5)};
    for (int n = 0; n < 98; ++n) CHECK_FALSE(tally.succeeded());
    CHECK_FALSE(fails(tally, 98));
    CHECK(tally.blamed().item == 98);
    CHECK_FALSE(fails(tally, 99));
    CHECK(tally.blamed().item == 98);
    CHECK_FALSE(fails(tally, 100));
    CHECK(tally.blamed().item == 98);
}

TEST_CASE("a rate is judged by the hundredth invocation, whether it failed or not, and not before") {
    for (const bool fails_last : {false, true}) {
        failure_tally tally{rate(0.5)};
        CHECK(tally.is_rate());
        for (int n = 0; n < 49; ++n) CHECK_FALSE(tally.succeeded());
        for (int n = 49; n < 99; ++n) CHECK_FALSE(fails(tally, n));
        if (fails_last) {
            CHECK(fails(tally, 99));
        } else {
            CHECK_FALSE(tally.succeeded());  // 50 of 100
            CHECK(fails(tally, 100));
        }
    }
    failure_tally tally{rate(0.5)};
    for (int n = 0; n < 51; ++n) CHECK_FALSE(fails(tally, n));
    for (int n = 51; n < 99; ++n) CHECK_FALSE(tally.succeeded());
    CHECK(tally.succeeded());
    CHECK(tally.blamed().item == 50);
    CHECK(tally.blamed().stage == &stage);
    CHECK_THROWS_WITH(std::rethrow_exception(tally.blamed().error), "50");
    CHECK_FALSE(tally.succeeded());  // said once
}

TEST_CASE("nothing that was thrown is kept where nobody will be blamed for it, or destroyed under the lock") {
    // Its destructor asks the tally.
    struct curious {
        failure_tally* tally;
        ~curious() { static_cast<void>(tally->succeeded()); }
    };
    failure_tally tally{rate(0.9)};
    const auto thrown = [&tally](std::weak_ptr<curious>& seen) {
        auto one = std::make_shared<curious>(curious{&tally});
        seen = one;
        return std::make_exception_ptr(std::move(one));
    };
    std::weak_ptr<curious> first, second, late;
    CHECK_FALSE(tally.failed(failure_tally::culprit{&stage, 0, thrown(first)}));
    CHECK_FALSE(first.expired());
    CHECK_FALSE(tally.failed(failure_tally::culprit{&stage, 1, thrown(second)}));
    CHECK(first.expired());
    for (int n = 0; n < 100; ++n) CHECK_FALSE(tally.succeeded());
    CHECK_FALSE(tally.failed(failure_tally::culprit{&stage, 2, thrown(late)}));
    CHECK(late.expired());
    failure_tally count{failure_limit(9)};
    CHECK_FALSE(count.failed(failure_tally::culprit{&stage, 3, thrown(late)}));
    CHECK(late.expired());
}

TEST_CASE("of many threads one ends the probation, and all see the same sums") {
    failure_tally tally{rate(0.5)};
    std::vector<int> said(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&tally, &said, t] {
            for (int n = 0; n < 14; ++n) said[t] += fails(tally, n) ? 1 : 0;
            for (int n = 0; n < 100; ++n) said[t] += tally.succeeded() ? 1 : 0;
        });
    }
    for (std::thread& each : threads) each.join();
    int all = 0;
    for (const int n : said) all += n;
    CHECK(all <= 1);
    // 56 of 456, and each success more counts.
    for (int n = 0; n < 343; ++n) CHECK_FALSE(fails(tally, n));
    CHECK_FALSE(fails(tally, 0));  // 400 of 800
    CHECK(fails(tally, 0));        // 401 of 801
}
