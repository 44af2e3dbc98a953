#include <weir/stages/worker_waits.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/when_all.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using weir::task;
using weir::virtual_time;
using weir::detail::intake;
using weir::detail::slot;
using weir::detail::task_intake;
using waiting = weir::channel<std::shared_ptr<int>, weir::unmeasured>;

namespace {

const std::string stage = "stage";

struct in_a_slot {
    virtual_time time;
    slot me{stage, 0, time};
    waiting in{2};
};

task<bool> takes(in_a_slot& s, bool skips, bool drops, std::shared_ptr<int>& got) {
    intake<waiting> take(s.me);
    take.prepare(s.in, skips);
    const bool came = co_await take;
    if (came && drops) {
        got = *take.item();
        take.drop();
    }
    co_return came || take.was_recalled();
}

task<bool> fails() {
    throw std::runtime_error("no");
    co_return true;
}
task<bool> gives(bool what) { co_return what; }

task<bool> gathers(bool what, bool breaks, std::exception_ptr& error) {
    virtual_time time;
    slot me{stage, 0, time};
    task_intake all(me);
    all.prepare([&] { return breaks ? fails() : gives(what); }, error);
    const bool whole = co_await all;
    co_return whole;
}

// Three at once, so that the last one waits.
task<int> takes_all(in_a_slot& s) {
    intake<waiting> take(s.me);
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        take.prepare(s.in);
        if (co_await take) sum += **take.item();
        take.drop();
    }
    co_return sum;
}
task<> puts_all(in_a_slot& s) {
    weir::detail::put_operation<waiting> put(s.me);
    for (int i = 0; i < 3; ++i) {
        auto item = std::make_shared<int>(1 << i);
        put.next(item, s.in);
        const bool is_in = co_await put;
        CHECK(is_in);
    }
}

}  // namespace

TEST_CASE(
    "what is taken stays where it arrived, and is destroyed once: when it is dropped, or with the taking") {
    in_a_slot s;
    const auto item = std::make_shared<int>(3);
    for (const bool drops : {true, false}) {
        std::shared_ptr<int> got;
        CHECK(s.in.try_put(std::shared_ptr<int>(item)) == weir::channel_status::success);
        CHECK(weir::sync_wait(s.time, takes(s, false, drops, got)));
        CHECK((got == item) == drops);
        got.reset();
        CHECK(item.use_count() == 1);
    }
}

TEST_CASE("an operation of a slot is used again for the next item, whether it waited or not") {
    in_a_slot s;
    auto both = [](task<> first, task<int> second) -> task<int> {
        auto [nothing, sum] = co_await weir::when_all(std::move(first), std::move(second));
        static_cast<void>(nothing);
        co_return sum;
    };
    CHECK(weir::sync_wait(s.time, both(puts_all(s), takes_all(s))) == 7);
    CHECK(s.in.size() == 0);
}

TEST_CASE("who is to take nothing leaves what is there, as if it was recalled") {
    in_a_slot s;
    std::shared_ptr<int> got;
    CHECK(s.in.try_put(std::make_shared<int>(3)) == weir::channel_status::success);
    CHECK(weir::sync_wait(s.time, takes(s, true, true, got)));
    s.me.recalled = true;
    CHECK(weir::sync_wait(s.time, takes(s, false, true, got)));
    CHECK(got == nullptr);
    CHECK(s.in.size() == 1);
}

TEST_CASE("what gathers keeps what went wrong, and gives nothing then") {
    virtual_time time;
    std::exception_ptr error;
    CHECK(weir::sync_wait(time, gathers(true, false, error)));
    CHECK_FALSE(weir::sync_wait(time, gathers(false, false, error)));
    CHECK(error == nullptr);
    CHECK_FALSE(weir::sync_wait(time, gathers(true, true, error)));
    CHECK_THROWS_AS(std::rethrow_exception(error), std::runtime_error);
}
