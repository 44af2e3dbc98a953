#include <weir/run/run_outcome.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

#include <ranges>
#include <stdexcept>
#include <utility>

using items::take_all;
using items::take_until_failure;
using weir::run_outcome;
using weir::virtual_time;

namespace {

auto numbers(int n) { return weir::source(std::views::iota(0, n)) | weir::sink(); }

auto fails_on(int bad) {
    return weir::source(std::views::iota(0, 100)) | weir::pipe([bad](int n) {
               if (n == bad) throw std::runtime_error("bad");
               return n;
           }) |
           weir::sink();
}

}  // namespace

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

TEST_CASE("what is tolerated is no failure of the run") {
    virtual_time time;
    auto run = fails_on(5).start(time, {.max_failures = 1});
    CHECK(take_all(run).size() == 99);
    CHECK(run.outcome() == run_outcome::finished);
}

TEST_CASE("what fails because of a stop doesn't make a failure of it") {
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
