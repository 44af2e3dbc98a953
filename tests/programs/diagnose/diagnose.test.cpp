// What WEIR_DIAGNOSE in the environment does to programs that don't know of it. A program of its own, as every
// run of another one would see it.
#include <weir/weir.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using items::contains;
using items::message_of;
using weir::virtual_time;
using namespace std::chrono_literals;

// WEIR_DIAGNOSE has this value as long as it lives.
class environment {
  public:
    explicit environment(const char* value) { ::setenv("WEIR_DIAGNOSE", value, 1); }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() { ::unsetenv("WEIR_DIAGNOSE"); }
};

// Makes this a program that prints a table, so that changes are simulated.
[[maybe_unused]] void print(std::ostream& out, const weir::pipeline_stats& stats) { out << stats; }

// What `function` writes on stderr.
template <class Function>
std::string written_by(Function function) {
    std::fflush(stderr);
    const int before = ::dup(2);
    std::FILE* const file = std::tmpfile();
    ::dup2(::fileno(file), 2);
    function();
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    static_cast<void>(std::fclose(file));
    return text;
}

template <class Function>
std::string diagnosed(Function function) {
    const environment on("1");
    return written_by(function);
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
}

std::vector<int> sorted(std::vector<int> all) {
    std::ranges::sort(all);
    return all;
}

// What stands in a line before a number of slots, where the stage is named above.
std::string blank_before(const std::string& text, const std::string& slots) {
    return std::string(text.find("slots     items") - text.find("stage  ") + 5 - slots.size(), ' ') + slots;
}

weir::task<int> in_20_ms(int n) {
    co_await weir::sleep_for(20ms);
    co_return n;
}

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

template <class P>
std::vector<int> all_of(const P& pipeline, weir::executor& ex) {
    std::vector<int> all;
    auto run = pipeline.start(ex);
    while (auto n = run.get()) all.push_back(*n);
    return all;
}

const std::string table =
    R"(weir: WEIR_DIAGNOSE=1: each stage alone first, with up to 32 slots, on the first 1000 items, for 60 s at most; then the run goes on

                                                                                         ------------------- % of the slots' time --------------------
stage  slots     items  failed      rate               95 %  speed-up        95 %       ave  run  await  runnable  wait_get  wait_put  wait_turn  overhead  readiness
src        1      1000       0         0                  -         -           -         -    -      -         -         -         -          -         -          -
slow       1       108       0   50.0 /s    50.0 /s-50.0 /s       1.0           -   20.0 ms    0    100         0         0         0          0         0      100 %
           4       132       0    200 /s      200 /s-200 /s       4.0     4.0-4.0   20.0 ms    0    100         0         0         0          0         0      100 %
           8       160       0    400 /s      400 /s-400 /s       8.0     8.0-8.0   20.0 ms    0    100         0         0         0          0         0      100 %
          16       224       0    800 /s      800 /s-800 /s      16.0   16.0-16.0   20.0 ms    0    100         0         0         0          0         0      100 %
          32       352       0   1.6 k/s    1.6 k/s-1.6 k/s      32.0   32.0-32.0   20.0 ms    0    100         0         0         0          0         0      100 %

items: invocations; rate: of them a second, and its 95 % confidence interval; below a readiness of 100 % the stage is faster than it was fed;
speed-up: over the fewest slots; none is told where its interval holds 1; runnable: no thread was free.
weir: WEIR_DIAGNOSE=1: the 500 items after the trials: stage 'slow' is the bottleneck: it awaits 100 % of the time; slow: 2 slots instead of 1 would bring 100 % more (sure: 100 %)
)";

}  // namespace

TEST_CASE("an unchanged program gives what it gives, in the same order, and a table before that") {
    virtual_time time;
    const auto pipeline = numbers(1500) | weir::pipe(in_20_ms, {.name = "slow"}) | weir::sink();
    const std::vector<int> as_usual = all_of(pipeline, time);
    CHECK(as_usual.size() == 1500);
    std::vector<int> under;
    CHECK(diagnosed([&] { under = all_of(pipeline, time); }) == table);
    CHECK(under == as_usual);
}

TEST_CASE(
    "a verdict is of what comes after the trials, in branches from the states, and there is none if too "
    "little comes") {
    virtual_time time;
    // In the trials, `slow` takes 20 ms for each item, and after them nothing.
    const auto text_of = [&time](int n) {
        const auto changing = [left = 1'000](int k) mutable -> weir::task<int> {
            co_await weir::sleep_for(left-- > 0 ? 20ms : 0ms);
            co_return k;
        };
        const auto in_5_ms = [](int k) -> weir::task<int> {
            co_await weir::sleep_for(5ms);
            co_return k;
        };
        const auto pipeline = numbers(n) | weir::pipe(changing, {.name = "slow"}) |
                              weir::pipe(in_5_ms, {.name = "later"}) | weir::sink();
        return diagnosed([&] { CHECK(all_of(pipeline, time).size() == static_cast<std::size_t>(n)); });
    };
    CHECK(contains(text_of(2'000), "trials: stage 'later' is the bottleneck: it awaits 100 % of the time"));
    CHECK(contains(text_of(1'000), "no verdict, as only 0 items came after the trials"));
    const std::string branched = diagnosed([&] {
        const auto pipeline =
            numbers(3'000) |
            weir::route([](int n) { return n % 2; }, weir::branch("0", weir::pipe(in_20_ms)),
                        weir::branch("1", weir::pipe(in_20_ms))) |
            weir::sink();
        CHECK(all_of(pipeline, time).size() == 3'000);
    });
    CHECK(contains(branched, "trials: the pipeline is balanced: several stages are always busy"));
}

TEST_CASE("a verdict leaves out the items of the trials, also if the consumer takes them long after") {
    virtual_time time;
    const std::string text = diagnosed([&time] {
        auto run = (numbers(2'000) | weir::pipe(in_20_ms, {.name = "slow"}) | weir::sink()).start(time);
        const auto consume = [&run]() -> weir::task<int> {
            int n = 0;
            while (true) {
                const auto item = co_await run.next();
                if (!item) break;
                ++n;
                co_await weir::sleep_for(30ms);
            }
            co_return n;
        };
        CHECK(weir::sync_wait(time, consume()) == 2'000);
    });
    const std::string before = "WEIR_DIAGNOSE=1: the ";
    const int items = std::atoi(text.c_str() + text.rfind(before) + before.size());
    // The queues are looked at after times that double, so up to half of the other items are left out, too.
    CHECK(items >= 400);
    CHECK(items <= 1'000);
    CHECK(contains(text,
                   "trials: the pipeline keeps up: the consumer is the bottleneck; a consumer that takes no "
                   "time would bring"));
}

TEST_CASE("nothing, an empty word and 0 are no diagnosis, and any other word is refused with its name") {
    virtual_time time;
    const auto pipeline = numbers(3) | weir::sink();
    for (const char* const off : {"", "0"}) {
        const environment set(off);
        CHECK(written_by([&] { CHECK(all_of(pipeline, time).size() == 3); }).empty());
    }
    const environment set("yes please");
    const std::string said = message_of([&] { static_cast<void>(pipeline.start(time)); });
    CHECK(contains(said, "WEIR_DIAGNOSE is 'yes please'"));
    CHECK(contains(said, "1 profiles"));
}

TEST_CASE("every run of a process is diagnosed, one inside of another, too") {
    virtual_time time;
    const std::string text = diagnosed([&] {
        auto inner = (numbers(50) | weir::sink()).start(time);
        auto outer = (weir::source(std::move(inner)) | weir::sink()).start(time);
        int n = 0;
        while (outer.get()) ++n;
        CHECK(n == 50);
        CHECK(all_of(numbers(3) | weir::sink(), time).size() == 3);
    });
    CHECK(count(text, "each stage alone first") == 3);
    CHECK(count(text, "runnable: no thread was free") == 3);
}

TEST_CASE("items and functions that only move, a generator and an endless source are diagnosed") {
    weir::thread_pool pool(2);
    const std::string text = diagnosed([&] {
        auto endless = []() -> weir::generator<std::unique_ptr<int>> {
            for (int i = 0;; ++i) co_yield std::make_unique<int>(i);
        };
        auto add = [one = std::make_unique<int>(1)](std::unique_ptr<int> n) {
            *n += *one;
            return n;
        };
        auto run = (weir::source(endless()) | weir::pipe(std::move(add), {.name = "add"}) | weir::take(3000) |
                    weir::sink())
                       .start(pool);
        int expected = 0;
        while (auto n = run.get()) CHECK(**n == ++expected);
        CHECK(expected == 3000);
    });
    CHECK(contains(text, "\nadd "));
}

TEST_CASE("the stages of what is merged, of a route, a split and a list are tried alone") {
    weir::thread_pool pool(2);
    std::atomic<int> seen{0};
    const std::string text = diagnosed([&] {
        using batch = std::vector<int>;
        const auto same = [](int n) { return n; };
        const auto all = [](batch b) { return b; };
        weir::stage_list<int> list;
        list.add(weir::pipe(same, {.name = "listed"}));
        const auto pipeline =
            weir::merge(numbers(2000) | weir::pipe(same, {.name = "left"}),
                        numbers(2000) | weir::pipe(same, {.name = "right", .concurrency = 2})) |
            weir::route([](int n) { return n % 2; }, weir::branch("0", weir::pipe(same, {.name = "even"})),
                        weir::branch("1", weir::pipe(same, {.name = "odd"}))) |
            weir::aggregate(10) |
            weir::split([](int n) { return n % 2; }, weir::branch("0", weir::pipe(all, {.name = "part 0"})),
                        weir::branch("1", weir::pipe(all, {.name = "part 1"}))) |
            weir::disaggregate() | list | weir::for_each([&seen](int) { ++seen; }, {.concurrency = 2});
        CHECK(pipeline.start(pool).wait().items == 4000);
    });
    CHECK(seen == 4000);
    for (const char* const stage :
         {"left", "right", "even", "odd", "part 0", "part 1", "listed", "for_each"}) {
        CAPTURE(stage);
        CHECK(count(text, "\n" + std::string(stage) + " ") == 1);
    }
    const std::string blank(text.find("slots     items") - text.find("stage  ") + 3, ' ');
    CHECK(count(text, "\n" + blank + "32 ") == 8);
}

TEST_CASE("epochs go through a diagnosis with their ends") {
    virtual_time time;
    static_cast<void>(diagnosed([&] {
        auto run = (weir::source(weir::epochs(std::vector<int>{1, 2, 3}, 4)) |
                    weir::pipe(in_20_ms, {.concurrency = 2}) | weir::aggregate(2) | weir::sink())
                       .start(time);
        for (int epoch = 0; epoch < 4; ++epoch) {
            int sum = 0;
            while (auto b = run.get_in_epoch()) {
                for (const int n : *b) sum += n;
            }
            CHECK(sum == 6);
        }
        CHECK_FALSE(run.get());
    }));
}

TEST_CASE("a run that fails in a diagnosis fails as it would, and says so") {
    virtual_time time;
    const auto fails = [](int n) {
        if (n == 70) throw std::runtime_error("seventy");
        return n;
    };
    std::string failure;
    const std::string text = diagnosed([&] {
        failure =
            message_of([&] { all_of(numbers(100) | weir::pipe(fails, {.name = "f"}) | weir::sink(), time); });
    });
    CHECK(contains(failure, "seventy"));
    CHECK(contains(text, "ended before all of its stages were tried"));
    std::vector<int> rest;
    const std::string tolerated = diagnosed(
        [&] { rest = all_of(numbers(100) | weir::pipe(fails, {.max_failures = 1}) | weir::sink(), time); });
    CHECK(rest.size() == 99);
    CHECK(contains(tolerated, "runnable: no thread was free"));
}

TEST_CASE("a run that is stopped in the middle of a diagnosis ends at once") {
    for (const bool threads : {false, true}) {
        virtual_time time;
        weir::thread_pool pool(1);
        const std::string text = diagnosed([&] {
            auto run = (numbers(1000) | weir::pipe(in_20_ms) | weir::sink())
                           .start(threads ? static_cast<weir::executor&>(pool) : time);
            if (!threads) CHECK(run.get(10ms).status() == weir::channel_status::timed_out);
        });
        CHECK_FALSE(contains(text, "runnable: no thread was free"));
    }
}

TEST_CASE("a source that waits for what the consumer has taken is tried as far as it goes") {
    virtual_time time;
    static_cast<void>(diagnosed([&] {
        weir::channel<int> back(1, time);
        const auto source = [&back, n = 0]() mutable -> weir::task<std::optional<int>> {
            if (n > 5) {
                std::optional<int> more = co_await back.get();
                if (!more) co_return std::optional<int>();
            }
            co_return std::optional<int>(n++);
        };
        auto run = (weir::source(source) | weir::pipe(in_20_ms) | weir::sink()).start(time);
        for (int i = 0; i < 20; ++i) {
            CHECK(run.get() == i);
            static_cast<void>(back.try_put(int(i)));
        }
        back.close();
    }));
}

TEST_CASE("a stage behind batches is tried with more of them, and every item is in one of them") {
    virtual_time time;
    std::vector<int> all;
    const std::string text = diagnosed([&] {
        const auto collate = [n = 0](std::vector<int> batch) mutable -> weir::task<std::vector<int>> {
            co_await weir::sleep_for(n++ % 2 == 0 ? 3ms : 1ms);
            co_return batch;
        };
        all = all_of(numbers(6000) | weir::aggregate(32) | weir::pipe(collate, {.name = "collate"}) |
                         weir::disaggregate() | weir::sink(),
                     time);
    });
    CHECK(all == all_of(numbers(6000) | weir::sink(), time));
    CHECK(contains(text, "\nsrc                 1      1000"));
    CHECK(contains(text, "\ncollate             1        25       0    500 /s"));
    CHECK(count(text, "  too few items\n") == 2);  // of 125 batches
}

TEST_CASE(
    "a source that waits for what later stages give back is tried no further, and all of its items come") {
    virtual_time time;
    std::vector<int> visited;
    const std::string text = diagnosed([&] {
        weir::channel<int> todo(64, time);
        std::size_t open = 1;
        const auto source = [&todo]() -> weir::task<std::optional<int>> {
            auto next = co_await todo.get();
            co_return next;
        };
        // A tree of 100 nodes.
        const auto visit = [&](int n) -> weir::task<int> {
            co_await weir::sleep_for(1ms);
            for (const int child : {2 * n + 1, 2 * n + 2}) {
                if (child >= 100) continue;
                ++open;
                co_await todo.put(int(child));
            }
            if (--open == 0) todo.close();
            co_return n;
        };
        CHECK(todo.try_put(0) == weir::channel_status::success);
        visited = all_of(weir::source(source) | weir::pipe(visit, {.name = "visit", .concurrency = 4}) |
                             weir::sink(),
                         time);
    });
    CHECK(sorted(visited) == all_of(numbers(100) | weir::sink(), time));
    CHECK(contains(text, "\nsrc        1         1       0         -"));
    CHECK(contains(text, "-  stuck\n"));
    CHECK(contains(text, "stuck: nothing moved any more"));
    CHECK(contains(text, "\nvisit "));
}

TEST_CASE(
    "a stage that waits for a place that only a later one frees is tried no further, and no item is lost") {
    virtual_time time;
    std::vector<int> all;
    const std::string text = diagnosed([&] {
        weir::channel<int> places(5, time);
        const auto enter = [&places](int n) -> weir::task<int> {
            co_await places.put(0);
            co_return n;
        };
        const auto leave = [&places](int n) -> weir::task<int> {
            co_await weir::sleep_for(1ms);
            co_await places.get();
            co_return n;
        };
        all = all_of(numbers(200) | weir::pipe(enter, {.name = "enter"}) |
                         weir::pipe(leave, {.name = "leave"}) | weir::sink(),
                     time);
    });
    CHECK(all == all_of(numbers(200) | weir::sink(), time));
    CHECK(contains(text, "  stuck\n" + blank_before(text, "4") + "         0"));
    CHECK(count(text, "  not tried\n") == 4);
    CHECK(contains(text, "\nleave "));
}

TEST_CASE(
    "a stage whose invocations wait for each other is tried no further with fewer slots than they need") {
    virtual_time time;
    std::vector<int> all;
    const std::string text = diagnosed([&] {
        weir::channel<int> here(1, time);
        // Two at a time.
        const auto meet = [&here](int n) -> weir::task<int> {
            if (n % 2 == 0) {
                co_await here.get();
            } else {
                co_await here.put(int(n));
            }
            co_return n;
        };
        all =
            all_of(numbers(200) | weir::pipe(meet, {.name = "meet", .concurrency = 2}) | weir::sink(), time);
    });
    CHECK(sorted(all) == all_of(numbers(200) | weir::sink(), time));
    CHECK(contains(text, "  stuck\n"));
}

TEST_CASE("a source that is slow is tried for 10 s, and an invocation that is slow, too") {
    virtual_time time;
    std::vector<int> all;
    const std::string text = diagnosed([&] {
        const auto source = [n = 0]() mutable -> weir::task<std::optional<int>> {
            co_await weir::sleep_for(4s);
            const int mine = n++;
            co_return mine < 9 ? std::optional<int>(mine) : std::nullopt;
        };
        all = all_of(weir::source(source) | weir::pipe(in_20_ms, {.name = "slow"}) | weir::sink(), time);
    });
    CHECK(all == all_of(numbers(9) | weir::sink(), time));
    CHECK(contains(text, "\nsrc        1         2       0   0.20 /s"));
    CHECK(contains(text, "-  time over\n"));
    CHECK(contains(text, "time over: a trial has a limit of time"));
}

TEST_CASE("an invocation that never ends is found out, and ends the run as it would without a diagnosis") {
    virtual_time time;
    const auto never = [&time](int n) -> weir::task<int> {
        weir::channel<int> nothing(1, time);
        co_await nothing.get();
        co_return n;
    };
    const auto pipeline = numbers(100) | weir::pipe(never, {.name = "never"}) | weir::sink();
    const auto get = [&] {
        auto run = pipeline.start(time);
        return message_of([&run] { static_cast<void>(run.get()); });
    };
    const std::string as_usual = get();
    CHECK(contains(as_usual, "never"));
    std::string said;
    const std::string text = diagnosed([&] { said = get(); });
    CHECK(contains(said, "never"));
    CHECK(contains(text, "  stuck\n"));
    CHECK(count(text, "  not tried\n") == 4);
}

TEST_CASE("a run that is destroyed while a trial is stuck ends") {
    virtual_time time;
    static_cast<void>(diagnosed([&] {
        weir::channel<int> back(1, time);
        const auto source = [&back]() -> weir::task<std::optional<int>> {
            auto next = co_await back.get();
            co_return next;
        };
        auto run = (weir::source(source) | weir::pipe(in_20_ms) | weir::sink()).start(time);
        CHECK(run.get(500ms).status() == weir::channel_status::timed_out);
    }));
}

TEST_CASE("all trials together have 60 s, and the stages that are left are not tried") {
    virtual_time time;
    const auto in_1_s = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1s);
        co_return n;
    };
    std::vector<int> all;
    const std::string text = diagnosed([&] {
        all = all_of(numbers(1000) | weir::pipe(in_1_s, {.name = "a", .concurrency = 32}) |
                         weir::pipe(in_1_s, {.name = "b", .concurrency = 32}) |
                         weir::pipe(in_1_s, {.name = "c", .concurrency = 32}) | weir::sink(),
                     time);
    });
    CHECK(sorted(all) == all_of(numbers(1000) | weir::sink(), time));
    CHECK(contains(text, "  time over\n"));
    CHECK(contains(text,
                   "\nc          1         0       0         -                  -         -           -      "
                   "   -    -"));
    CHECK(count(text, "  not tried\n") >= 5);
    CHECK(contains(text, "not tried: a trial before it was stuck, or the time for all was over"));
}

TEST_CASE("a pause in the middle of a trial is no part of it, and one without end ends the diagnosis") {
    virtual_time time;
    const auto pipeline = numbers(1000) | weir::pipe(in_20_ms, {.name = "slow"}) |
                          weir::pipe([](int n) { return n; }) | weir::sink();
    const std::string text = diagnosed([&] {
        auto run = pipeline.start(time);
        CHECK(run.get(50ms).status() == weir::channel_status::timed_out);
        run.pause();
        CHECK(run.get(5s).status() == weir::channel_status::timed_out);
        run.resume();
        CHECK(run.drain().items == 1000);
    });
    CHECK(count(text, "       0   50.") == 1);
    CHECK(count(text, "1.6 k/s-1.6 k/s") == 1);
    const std::string ended = diagnosed([&] {
        auto run = pipeline.start(time);
        run.pause();
        CHECK(run.get(5min).status() == weir::channel_status::timed_out);
        run.resume();
        CHECK(run.drain().items == 1000);
    });
    CHECK(count(ended, "  not tried\n") == 11);
}

TEST_CASE("a run that measures nothing says that it can't be diagnosed, and goes on") {
    virtual_time time;
    const std::string text = diagnosed([&] {
        auto run = (numbers(3) | weir::sink()).start<weir::unmeasured>(time);
        CHECK(run.drain().items == 3);
    });
    CHECK(contains(text, "measures nothing"));
    const std::string summed = diagnosed([&] {
        auto run = (numbers(3) | weir::sink()).start<weir::summed>(time);
        CHECK(run.drain().items == 3);
    });
    CHECK(contains(summed, "\nsrc "));
}

TEST_CASE("a pause holds a diagnosis up, and limits in bytes and an order of stages go with it") {
    weir::thread_pool pool(2);
    static_cast<void>(diagnosed([&] {
        auto run = (numbers(2000) | weir::pipe([](int n) { return n; }, {.max_bytes = 64}) | weir::sink())
                       .start(pool, {.max_bytes = 4000, .later_stages_first = true});
        run.pause();
        run.resume();
        CHECK(run.drain().items == 2000);
    }));
}
