#include <weir/run/failure.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <ranges>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using items::contains;
using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::failure;
using weir::failure_limit;
using weir::pipeline_failure;
using weir::rate;
using weir::run_outcome;
using weir::virtual_time;
using weir::detail::failure_counter;
using namespace std::chrono_literals;

namespace {

std::exception_ptr error(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }

const std::string stage = "p";

std::exception_ptr error_of(int n) { return std::make_exception_ptr(std::runtime_error(std::to_string(n))); }

bool fails(failure_counter& counter, int n) {
    return counter.count_failure(failure_counter::entry{&stage, static_cast<std::uint64_t>(n), error_of(n)});
}

std::vector<std::string> heard;

// Hears what nobody asks for, for as long as it lives.
class listener {
  public:
    listener() { heard.clear(); }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { weir::set_failure_sink(before_); }

  private:
    static void hear(std::string_view run, const weir::pipeline_failure& what) noexcept {
        heard.push_back(std::string(run) + ": " + what.stage() + ": " + what.failures().front().message());
    }
    const weir::failure_sink before_ = weir::set_failure_sink(&hear);
};

auto fails() {
    return weir::source(std::views::iota(0, 100)) |
           weir::pipe(
               [](int n) {
                   if (n == 5) throw std::runtime_error("five");
                   return n;
               },
               {.name = "decode"}) |
           weir::sink(100);
}

const std::vector<std::string> once = {"src | decode | sink: decode: five"};

auto numbers(int n) { return weir::source(std::views::iota(0, n)) | weir::sink(); }

auto fails_on(int bad) {
    return weir::source(std::views::iota(0, 100)) | weir::pipe([bad](int n) {
               if (n == bad) throw std::runtime_error("bad");
               return n;
           }) |
           weir::sink();
}

}  // namespace

static_assert(failure_limit().exceeded(1, 1));
static_assert(!failure_limit(3).exceeded(3, 3));
static_assert(weir::rate(0.5).exceeded(51, 100));

TEST_CASE("a failure has the text of the exception, also if it is no exception class") {
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

TEST_CASE("what() has no control characters but line breaks and tabs; the members have the texts as given") {
    const pipeline_failure two({failure("de\x1b[2Jcode", 3,
                                        error("no\r\nJPEG\x7f\t\xc2\x9b"
                                              "31m")),
                                failure("re\asize", 1, error("\x1b]0;t\a"))});
    CHECK(two.what() == std::string("weir: stage 'de?[2Jcode' failed on item 3: no?\nJPEG?\t?31m; "
                                    "also stage 're?size' on item 1: ?]0;t?"));
    CHECK(two.stage() == "de\x1b[2Jcode");
    CHECK(two.failures().at(1).message() == "\x1b]0;t\a");
}

TEST_CASE("a callback that failed is not called a stage, and has no item") {
    CHECK(pipeline_failure({failure("on_lap", 0, error("no disk")), failure("on_end", 0, error("no net"))})
              .what() == std::string("weir: on_lap failed: no disk; also on_end: no net"));
    virtual_time time;
    auto run = fails().start(time, {.on_failure = [](const failure&) { throw std::logic_error("told"); }});
    const std::string text = message_of([&run] { run.drain(); });
    CHECK(text.starts_with("weir: stage 'decode' (failure.test.cpp:"));
    CHECK(text.ends_with(") failed on item 5: five; also on_failure: told"));
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

TEST_CASE("a count is compared with its limit at each failure") {
    failure_counter counter{failure_limit(2)};
    CHECK_FALSE(counter.is_rate());
    CHECK_FALSE(fails(counter, 0));
    CHECK_FALSE(fails(counter, 1));
    CHECK(fails(counter, 2));
    CHECK(fails(counter, 3));
}

TEST_CASE("the last failure of the probation is kept until its end, and no later one") {
    failure_counter counter{rate(0.5)};
    for (int n = 0; n < 98; ++n) CHECK_FALSE(counter.count_success());
    CHECK_FALSE(fails(counter, 98));
    CHECK(counter.last_failure().item == 98);
    CHECK_FALSE(fails(counter, 99));
    CHECK(counter.last_failure().item == 98);
    CHECK_FALSE(fails(counter, 100));
    CHECK(counter.last_failure().item == 98);
}

TEST_CASE("a rate is compared with its limit from the hundredth invocation on, whether that fails or not") {
    for (const bool fails_last : {false, true}) {
        failure_counter counter{rate(0.5)};
        CHECK(counter.is_rate());
        for (int n = 0; n < 49; ++n) CHECK_FALSE(counter.count_success());
        for (int n = 49; n < 99; ++n) CHECK_FALSE(fails(counter, n));
        if (fails_last) {
            CHECK(fails(counter, 99));
        } else {
            CHECK_FALSE(counter.count_success());  // 50 of 100
            CHECK(fails(counter, 100));
        }
    }
    failure_counter counter{rate(0.5)};
    for (int n = 0; n < 51; ++n) CHECK_FALSE(fails(counter, n));
    for (int n = 51; n < 99; ++n) CHECK_FALSE(counter.count_success());
    CHECK(counter.count_success());
    CHECK(counter.last_failure().item == 50);
    CHECK(counter.last_failure().stage == &stage);
    CHECK_THROWS_WITH(std::rethrow_exception(counter.last_failure().error), "50");
    CHECK_FALSE(counter.count_success());  // said once
}

TEST_CASE("an exception is kept only during the probation, and not destroyed under the lock") {
    // Its destructor asks the counter.
    struct curious {
        failure_counter* counter;
        ~curious() { static_cast<void>(counter->count_success()); }
    };
    failure_counter counter{rate(0.9)};
    const auto thrown = [&counter](std::weak_ptr<curious>& seen) {
        auto one = std::make_shared<curious>(curious{&counter});
        seen = one;
        return std::make_exception_ptr(std::move(one));
    };
    std::weak_ptr<curious> first, second, late;
    CHECK_FALSE(counter.count_failure(failure_counter::entry{&stage, 0, thrown(first)}));
    CHECK_FALSE(first.expired());
    CHECK_FALSE(counter.count_failure(failure_counter::entry{&stage, 1, thrown(second)}));
    CHECK(first.expired());
    for (int n = 0; n < 100; ++n) CHECK_FALSE(counter.count_success());
    CHECK_FALSE(counter.count_failure(failure_counter::entry{&stage, 2, thrown(late)}));
    CHECK(late.expired());
    failure_counter count{failure_limit(9)};
    CHECK_FALSE(count.count_failure(failure_counter::entry{&stage, 3, thrown(late)}));
    CHECK(late.expired());
}

TEST_CASE("of many threads one ends the probation, and all see the same sums") {
    failure_counter counter{rate(0.5)};
    std::vector<int> said(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&counter, &said, t] {
            for (int n = 0; n < 14; ++n) said[t] += fails(counter, n) ? 1 : 0;
            for (int n = 0; n < 100; ++n) said[t] += counter.count_success() ? 1 : 0;
        });
    }
    for (std::thread& each : threads) each.join();
    int all = 0;
    for (const int n : said) all += n;
    CHECK(all <= 1);
    // 56 of 456, and each success more counts.
    for (int n = 0; n < 343; ++n) CHECK_FALSE(fails(counter, n));
    CHECK_FALSE(fails(counter, 0));  // 400 of 800
    CHECK(fails(counter, 0));        // 401 of 801
}

TEST_CASE(
    "the failure of a run that is destroyed before a consumer sees it is reported once, with the run's "
    "name") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        time.run();
        CHECK(heard.empty());
        run.stop();
        auto moved = std::move(run);
        CHECK(heard.empty());
    }
    CHECK(heard == once);
    {
        weir::thread_pool pool(2);
        auto run = fails().start(pool);
        while (run.outcome() == weir::run_outcome::running) {
        }
    }
    CHECK(heard.size() == 2);
}

TEST_CASE("a consumer that leaves before the failure doesn't hide it") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        CHECK(run.get() == 0);
        time.run();
        CHECK(run.get() == 1);
    }
    CHECK(heard == once);
}

TEST_CASE("a failure that was thrown, or reported to on_failure, is not reported again") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        CHECK(items::take_until_failure(run).failed);
    }
    {
        const auto run = fails().start(time, {.on_failure = [](const failure&) {}});
        time.run();
    }
    {
        const auto run = fails().start(time, {.max_failures = 1});
        time.run();
    }
    CHECK(heard.empty());
}

TEST_CASE(
    "a failure in on_failure itself, in a hook or in on_lap is reported, also if there is an on_failure") {
    const listener here;
    virtual_time time;
    struct bad_end final : weir::hook {
        void stage_ends(const std::string&) override { throw std::runtime_error("hook"); }
    };
    {
        const auto run =
            fails().start(time, {.on_failure = [](const failure&) { throw std::logic_error("told"); }});
        time.run();
    }
    CHECK(heard == once);
    {
        const auto run = fails().start(time, {.max_failures = 1,
                                              .on_failure = [](const failure&) {},
                                              .hooks = {std::make_shared<bad_end>()}});
        time.run();
    }
    CHECK(heard.size() == 2);
}

TEST_CASE("failures after a stop are not reported") {
    const listener here;
    virtual_time time;
    const auto gives_up = [](int n, const weir::invocation& call) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        if (call.stop().stop_requested()) throw std::runtime_error("cancelled");
        co_return n;
    };
    {
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(gives_up) | weir::sink()).start(time);
        CHECK(run.get() == 0);
        run.request_stop();
    }
    CHECK(heard.empty());
}

TEST_CASE("a null failure sink reports nothing, and set_failure_sink returns the previous one") {
    const listener here;
    const weir::failure_sink mine = weir::set_failure_sink(nullptr);
    virtual_time time;
    {
        const auto run = fails().start(time);
        time.run();
    }
    CHECK(heard.empty());
    CHECK(weir::set_failure_sink(mine) == nullptr);
}

TEST_CASE("a run is finished when a consumer has seen the end, and not before") {
    virtual_time time;
    auto run = numbers(3).start(time);
    CHECK(run.outcome() == run_outcome::running);
    for (int i = 0; i < 3; ++i) CHECK(run.get() == i);
    CHECK(run.outcome() == run_outcome::running);
    CHECK_FALSE(run.get().has_value());
    CHECK(run.outcome() == run_outcome::finished);
    run.stop();
    run.request_stop();
    CHECK(run.outcome() == run_outcome::finished);
}

TEST_CASE("a run that was stopped tells whether by its token") {
    virtual_time time;
    const weir::stop_source source;
    auto by_token = numbers(100).start(time, {.stop = source.get_token()});
    auto by_stop = numbers(100).start(time, {.stop = source.get_token()});
    auto by_request = numbers(100).start(time, {.stop = source.get_token()});
    by_stop.stop();
    by_request.request_stop();
    source.request_stop();
    CHECK(by_token.outcome() == run_outcome::stopped_by_token);
    by_token.stop();
    for (auto* const run : {&by_token, &by_stop, &by_request}) CHECK(take_all(*run).empty());
    CHECK(by_token.outcome() == run_outcome::stopped_by_token);
    CHECK(by_stop.outcome() == run_outcome::stopped);
    CHECK(by_request.outcome() == run_outcome::stopped);
}

TEST_CASE(
    "a run that failed has failed, before anybody was thrown that and after, also if it is stopped then") {
    virtual_time time;
    auto run = fails_on(5).start(time);
    CHECK(run.get() == 0);
    CHECK(run.outcome() == run_outcome::running);
    CHECK(take_until_failure(run).failed);
    CHECK(run.outcome() == run_outcome::failed);
    CHECK_FALSE(run.get().has_value());
    run.stop();
    CHECK(run.outcome() == run_outcome::failed);
}

TEST_CASE("a failure within the limit is no failure of the run") {
    virtual_time time;
    auto run = fails_on(5).start(time, {.max_failures = 1});
    CHECK(take_all(run).size() == 99);
    CHECK(run.outcome() == run_outcome::finished);
}

TEST_CASE("a failure after a stop does not change the outcome") {
    virtual_time time;
    const weir::stop_source source;
    const auto gives_up = [&source](int n) {
        if (n == 5) source.request_stop();
        if (n == 5) throw std::runtime_error("cancelled");
        return n;
    };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(gives_up) | weir::sink())
                   .start(time, {.stop = source.get_token()});
    static_cast<void>(take_until_failure(run));
    CHECK(run.outcome() == run_outcome::stopped_by_token);
}

TEST_CASE("the outcome stays with the run when that is moved") {
    virtual_time time;
    auto run = numbers(3).start(time);
    run.stop();
    auto moved = std::move(run);
    CHECK(moved.outcome() == run_outcome::stopped);
}
