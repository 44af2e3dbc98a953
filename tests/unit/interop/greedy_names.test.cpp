// The library finds its own functions, whatever functions the namespace of a user's types has.
// Compiled with others: its namespace is none of the library, and its macro ends here.
#include <weir/task/awaitable.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/platform/config.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/table.hpp>
#include <weir/simulation.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Takes any arguments as well as, or better than, the library's function of that name does. A call that
// finds it is ambiguous, or calls it; it has no body.
#define GREEDY(name)                                       \
    template <class A>                                     \
    void name(A&&);                                        \
    template <class A, class B>                            \
    void name(A&&, B&&);                                   \
    template <class A, class B, class C>                   \
    void name(A&&, B&&, C&&);                              \
    template <class A, class B, class C, class D>          \
    void name(A&&, B&&, C&&, D&&);                         \
    template <class T, class A>                            \
    void name(A&&);                                        \
    template <class T, class A, class B>                   \
    void name(A&&, B&&);                                   \
    template <class T, class A, class B, class C, class D> \
    void name(A&&, B&&, C&&, D&&);

namespace greedy {

GREEDY(adapt_awaitable)
GREEDY(aggregate)
GREEDY(announce)
GREEDY(attach_fan_in)
GREEDY(await_measured)
GREEDY(block_until)
GREEDY(check)
GREEDY(check_identities)
GREEDY(check_threads_of)
GREEDY(clock_of)
GREEDY(disaggregate)
GREEDY(env_of)
GREEDY(epochs)
GREEDY(explore)
GREEDY(filter)
GREEDY(flat_map)
GREEDY(get_awaiter)
GREEDY(help_until)
GREEDY(executor_of)
GREEDY(in_register)
GREEDY(inside)
GREEDY(is_mark)
GREEDY(is_sampler_base)
GREEDY(join)
GREEDY(larger)
GREEDY(line_text)
GREEDY(make_epoch)
GREEDY(make_pipeline)
GREEDY(make_root)
GREEDY(merge)
GREEDY(next_of)
GREEDY(provenance_of)
GREEDY(per_slot)
GREEDY(pipe)
GREEDY(replace)
GREEDY(retry)
GREEDY(route)
GREEDY(saturating_add)
GREEDY(sink)
GREEDY(sleep_for)
GREEDY(sleep_until)
GREEDY(source)
GREEDY(split)
GREEDY(stages_of)
GREEDY(swap)
GREEDY(sync_wait)
GREEDY(take_non_void)
GREEDY(tee)
GREEDY(transfers_of)
GREEDY(value_of)
GREEDY(when_all)
GREEDY(zip)
#undef GREEDY

class item {
  public:
    explicit item(int n) noexcept : n_(n) {}
    [[nodiscard]] int number() const noexcept { return n_; }

  private:
    int n_;
};

// Awaitable by a member, as an awaiter, and as a sender is.
class by_member {
  public:
    explicit by_member(int n) noexcept : n_(n) {}
    class awaiter {
      public:
        explicit awaiter(int n) noexcept : n_(n) {}
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        item await_resume() const noexcept { return item(n_); }

      private:
        int n_;
    };
    auto operator co_await() const noexcept { return awaiter(n_); }

  private:
    int n_;
};
class by_promise {
  public:
    explicit by_promise(int n) noexcept : n_(n) {}
    template <class Promise>
    auto as_awaitable(Promise&) const noexcept {
        return by_member::awaiter(n_);
    }

  private:
    int n_;
};

// A coroutine with a promise of this namespace.
class bare {
  public:
    class promise_type {
      public:
        bare get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

// What stages call.
template <int What>
class function {
  public:
    auto operator()(item i) const {
        if constexpr (What == 0) return item(i.number() + 1);
        if constexpr (What == 1) return by_member(i.number() + 1);
        if constexpr (What == 2) return by_promise(i.number() + 1);
        if constexpr (What == 3) return std::optional<item>(i);
        if constexpr (What == 4) return coroutine(i);
        if constexpr (What == 5) return plain_generator(i);
        if constexpr (What == 6) return waiting_generator(i);
        if constexpr (What == 7) return std::vector<item>(2, i);
    }

  private:
    static weir::task<item> coroutine(item i) {
        co_await weir::yield();
        co_return item(i.number() + 1);
    }
    static weir::generator<item> plain_generator(item i) { co_yield item(i.number() + 1); }
    static weir::async_generator<item> waiting_generator(item i) {
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        co_yield item(i.number() + 1);
    }
};
class predicate {
  public:
    bool operator()(const item& i) const noexcept { return i.number() >= 0; }
};
class chooser {
  public:
    std::size_t operator()(const item& i) const noexcept { return i.number() % 2 == 0 ? 0 : 1; }
};
class pairs {
  public:
    std::optional<std::vector<item>> accumulate(item i) {
        held_.push_back(i);
        return held_.size() == 2 ? flush() : std::nullopt;
    }
    std::optional<std::vector<item>> flush() {
        if (held_.empty()) return std::nullopt;
        return std::exchange(held_, {});
    }

  private:
    std::vector<item> held_;
};
class epoch_maker {
  public:
    std::vector<item> operator()(std::uint64_t) const { return std::vector<item>(3, item(1)); }
};
class weighing {
  public:
    std::size_t operator()(const item&) const noexcept { return 1; }
};
class scenario {
  public:
    void operator()(weir::simulation::world& w) const { weir::sync_wait(w, one()); }

  private:
    static weir::task<item> one() { co_return item(1); }
};

}  // namespace greedy
#undef GREEDY

using greedy::function;
using greedy::item;

namespace {

weir::task<item> one(int n) {
    co_await weir::yield();
    co_return item(n);
}

std::vector<item> items(int n) {
    std::vector<item> all;
    for (int i = 0; i < n; ++i) all.emplace_back(i);
    return all;
}

template <class Pipeline>
int sum(Pipeline&& pipeline) {
    weir::virtual_time time;
    auto run = std::forward<Pipeline>(pipeline).start(time);
    int total = 0;
    for (const auto& i : run) {
        if constexpr (requires { i.number(); }) {
            total += i.number();
        } else if constexpr (requires { i.size(); }) {
            for (const item& each : i) total += each.number();
        } else {
            total += std::get<0>(i).number();
        }
    }
    return total;
}

}  // namespace

TEST_CASE("awaitables of a namespace with functions of the library's names are awaited") {
    const auto awaits = []() -> weir::task<int> {
        const item a = co_await greedy::by_member(1);
        const item b = co_await greedy::by_promise(2);
        const auto tuple = co_await weir::when_all(greedy::by_member(3), greedy::by_promise(4), one(5));
        std::vector<greedy::by_member> several(2, greedy::by_member(6));
        const auto vector = co_await weir::when_all(std::move(several));
        co_return a.number() + b.number() + std::get<0>(tuple).number() + std::get<1>(tuple).number() +
            std::get<2>(tuple).number() + vector[1].number();
    };
    CHECK(weir::sync_wait(awaits()) == 21);
    CHECK(weir::sync_wait(greedy::by_member(7)).number() == 7);
    CHECK(weir::sync_wait(greedy::by_promise(8)).number() == 8);
}

TEST_CASE("coroutines of such a namespace await all of the library") {
    weir::run_loop loop;
    bool done = false;
    const auto awaits = [](weir::executor& ex, bool& ended) -> greedy::bare {
        co_await weir::schedule(ex);
        weir::channel<item> c(1);
        const bool put = co_await c.put(item(1));
        const std::optional<item> got = co_await c.get();
        const item i = co_await one(2);
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        weir::task_group group(ex);
        co_await group.fork([]() -> weir::task<> { co_return; }());
        co_await group.join();
        const auto both = co_await weir::when_all(one(3), one(4));
        ended = put && got->number() == 1 && i.number() == 2 && std::get<1>(both).number() == 4;
    };
    awaits(loop, done);
    weir::sync_wait(loop, weir::sleep_for(std::chrono::seconds(1)));
    CHECK(done);
}

TEST_CASE("channels of items of such a namespace work") {
    weir::channel<item> c(2);
    CHECK(c.blocking_put(item(1)) == weir::channel_status::success);
    CHECK(c.try_put(item(2)) == weir::channel_status::success);
    CHECK(c.blocking_get().value().number() == 1);
    CHECK(c.try_get().value().number() == 2);
}

TEST_CASE("stages of functions and items of such a namespace work") {
    CHECK(sum(weir::source(items(3)) | weir::pipe(function<0>()) | weir::pipe(function<1>()) |
              weir::pipe(function<2>()) | weir::pipe(function<3>()) |
              weir::pipe(function<4>(), {.concurrency = 2}) | weir::sink()) == 15);
    CHECK(sum(weir::source(items(3)) | weir::pipe(function<5>()) | weir::pipe(function<6>()) |
              weir::sink()) == 9);
    CHECK(sum(weir::source(items(3)) | weir::flat_map(function<7>()) | weir::filter(greedy::predicate()) |
              weir::pipe(weir::retry(function<4>())) | weir::sink()) == 12);
    CHECK(sum(weir::source(items(4)) | weir::aggregate(2) | weir::disaggregate() | weir::shuffle(2, 1) |
              weir::take(3) | weir::skip(0) | weir::aggregate_by_weight(3, greedy::weighing()) |
              weir::sink()) >= 3);
    CHECK(sum(weir::source(items(4)) | weir::aggregate(4) |
              weir::split(greedy::chooser(), weir::branch("even"), weir::branch("odd")) | weir::sink()) == 6);
    CHECK(sum(weir::source(items(4)) | weir::aggregate(greedy::pairs()) | weir::tee(weir::disaggregate()) |
              weir::sink()) == 6);
    CHECK(sum(weir::merge(weir::source(items(2)), weir::source(items(2))) | weir::sink()) == 2);
    CHECK(sum(weir::zip(weir::source(items(2)), weir::source(items(2))) | weir::sink()) == 1);
    CHECK(sum(weir::source(items(2)) |
              weir::route(greedy::chooser(), weir::branch("even", weir::pipe(function<0>())),
                          weir::branch("odd", weir::pipe(function<0>()))) |
              weir::sink()) == 3);
    CHECK(sum(weir::source(weir::epochs(greedy::epoch_maker(), 1)) | weir::cache(2) |
              weir::pipe(function<1>()) | weir::sink()) == 12);
    CHECK(weir::describe(weir::source(items(2)) | weir::pipe(function<0>()) | weir::sink()).stages.size() ==
          3);
}

TEST_CASE("a scenario of such a namespace is explored") {
    CHECK(weir::simulation::explore(greedy::scenario(), {.schedules = 10}).schedules > 0);
}
