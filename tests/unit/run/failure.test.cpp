#include <weir/run/failure.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

using items::contains;
using items::message_of;
using weir::failure;
using weir::failure_limit;
using weir::pipeline_failure;

static_assert(failure_limit().exceeded(1, 1));
static_assert(!failure_limit(3).exceeded(3, 3));
static_assert(weir::rate(0.5).exceeded(51, 100));

namespace {

std::exception_ptr error(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }

}  // namespace

TEST_CASE("a failure says what was thrown, also if that is no exception class") {
    CHECK(failure("decode", 3, error("no JPEG")).message() == "no JPEG");
    CHECK(failure("decode", 3, std::make_exception_ptr(7)).message() == "7 (thrown as int)");
}

TEST_CASE("a pipeline's failure names stage, item and reason, and those of other stages behind") {
    const pipeline_failure one({failure("decode", 3, error("no JPEG"))});
    CHECK(one.what() == std::string("weir: stage 'decode' failed on item 3: no JPEG"));
    CHECK(one.stage() == "decode");
    CHECK(one.item() == 3);
    CHECK(one.failures().size() == 1);
    CHECK_THROWS_AS(std::rethrow_exception(one.original()), std::runtime_error);

    const pipeline_failure two(
        {failure("decode", 3, error("no JPEG")), failure("resize", 1, error("0 pixels"))});
    CHECK(two.what() == std::string("weir: stage 'decode' failed on item 3: no JPEG; "
                                    "also stage 'resize' on item 1: 0 pixels"));
    CHECK(two.stage() == "decode");
    CHECK(two.failures().at(1).stage == "resize");
}

TEST_CASE("a failure says where its stage was composed, where that is known") {
    const auto here = std::source_location::current();
    const std::string place = "failure.test.cpp:" + std::to_string(here.line());
    const pipeline_failure two(
        {failure("decode", 3, error("no JPEG"), here), failure("resize", 1, error("0 pixels"), here)});
    CHECK(two.what() == "weir: stage 'decode' (" + place +
                            ") failed on item 3: no JPEG; also stage 'resize' (" + place +
                            ") on item 1: 0 pixels");
    CHECK(two.where().line() == here.line());
    CHECK(pipeline_failure({failure("decode", 3, error("no JPEG"))}).where().line() == 0);
}

TEST_CASE("a limit is exceeded by one failure more than it tolerates") {
    CHECK_FALSE(failure_limit().exceeded(0, 10));
    CHECK(failure_limit().exceeded(1, 1'000'000));
    for (const std::uint64_t n : {0U, 1U, 3U, 1000U}) {
        CAPTURE(n);
        CHECK_FALSE(failure_limit(n).exceeded(n, n));
        CHECK(failure_limit(n).exceeded(n + 1, n + 1));
        CHECK_FALSE(failure_limit(n).is_rate());
    }
    CHECK_FALSE(weir::unlimited.exceeded(std::numeric_limits<std::uint64_t>::max(), 1));
}

TEST_CASE("a negative limit is refused with the word for no limit") {
    CHECK_THROWS_AS(failure_limit(-1), std::invalid_argument);
    CHECK_THROWS_AS(failure_limit(std::int8_t{-1}), std::invalid_argument);
    CHECK(contains(message_of([] { failure_limit limit(-1); }), "weir::unlimited"));
}

TEST_CASE("a rate is looked at from the hundredth invocation on") {
    const failure_limit limit = weir::rate(0.05);
    CHECK(limit.is_rate());
    CHECK_FALSE(limit.exceeded(99, 99));
    CHECK_FALSE(limit.exceeded(5, 100));
    CHECK(limit.exceeded(6, 100));
    CHECK_FALSE(limit.exceeded(6, 120));
    CHECK(limit.exceeded(7, 120));
}

TEST_CASE("a rate tolerates its share to the item, however the number is rounded") {
    // 0.29 * 100 is a little less than 29 in floating point.
    for (const std::uint64_t invocations : {100U, 200U, 1000U, 1'000'000U}) {
        for (std::uint64_t percent = 1; percent <= 100; ++percent) {
            const std::uint64_t allowed = invocations / 100 * percent;
            const failure_limit limit = weir::rate(static_cast<double>(percent) / 100);
            CAPTURE(invocations, percent);
            CHECK_FALSE(limit.exceeded(allowed, invocations));
            if (percent < 100) {
                CHECK(limit.exceeded(allowed + 1, invocations));
            }
        }
    }
}

TEST_CASE("a rate of 1 tolerates everything") {
    CHECK_FALSE(weir::rate(1).exceeded(100, 100));
    CHECK_FALSE(weir::rate(1).exceeded(1'000'000'007, 1'000'000'007));
}

TEST_CASE("a rate outside of (0, 1] is refused with an example of a right one") {
    for (const double wrong : {0.0, -0.1, 1.5, 5.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(weir::rate(wrong), std::invalid_argument);
        CHECK(contains(message_of([wrong] { static_cast<void>(weir::rate(wrong)); }),
                       "rate(0.05) is one item in twenty"));
    }
}
