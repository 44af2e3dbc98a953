// deadlocks [TIMES]: makes each of fourteen deadlocks a hundred times, and measures how long it takes from the
// last step that anything in it took until a watchdog, with the options that it has by itself, names it; and
// that it names the right ones. Fails if one takes more than 100 ms.
#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using weir::channel;
using weir::task;
using namespace std::chrono_literals;

// When anybody last did something: whoever is about to wait for ever has said so just before.
std::atomic<std::int64_t> last_step = 0;
std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
void step() { last_step = now(); }

task<> put_then_get(channel<int>& out, channel<int>& in, int puts) {
    for (int i = 0; i < puts; ++i) {
        step();
        const bool taken = co_await out.put(int(i));
        if (!taken) co_return;
    }
    step();
    static_cast<void>(co_await in.get());
}
task<> take(channel<int>& in, int most = -1) {
    while (most-- != 0) {
        step();
        auto item = co_await in.get();
        if (!item) break;
    }
}
task<> pass_on(channel<int>& in, channel<int>& out) {
    step();
    while (auto item = co_await in.get()) {
        step();
        const bool taken = co_await out.put(std::move(*item));
        if (!taken) break;
    }
    out.close();
}
template <class Run>
void drain(Run& run) {
    step();
    while (run.get()) step();
}

struct scene {
    weir::thread_pool pool{2};
    weir::blocking_pool io{2};
    channel<int> a{1, pool, "a"}, b{1, pool, "b"}, c{1, pool, "c"};
    std::atomic<bool> over = false;
    std::function<void()> end;  // of what closing the channels doesn't end

    task<> go_on() {
        while (!over) co_await weir::yield();
    }
    void release() {
        a.close();
        b.close();
        c.close();
        if (end) end();
        over = true;
    }
};

task<int> ask(scene& s, int i) {
    step();
    const auto got = co_await s.a.get();
    co_return got ? *got : i;
}
task<std::optional<int>> next_of(weir::run<int>*& from, channel<int>& begin) {
    step();
    static_cast<void>(co_await begin.get());
    step();
    auto item = co_await from->next();
    co_return item;
}

// A report without where the stages were composed, which is a line of this file.
std::string without_places(std::string text) {
    const std::string begin = " (deadlocks.cpp:";
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin)) {
        text.erase(at, text.find(')', at) + 1 - at);
    }
    return text;
}

struct seeded {
    const char* name;
    std::string names;  // what the report has to say, among others
    std::function<void(scene&)> make;
};

std::vector<seeded> all() {
    using weir::sync_wait;
    using weir::when_all;
    return {
        {"two full channels", "channel 'a' is full, 1 of 1: a coroutine waits to put",
         [](scene& s) { sync_wait(s.pool, when_all(put_then_get(s.a, s.b, 2), put_then_get(s.b, s.a, 2))); }},
        {"two empty channels", "channel 'b' is empty, 0 of 1: a coroutine waits to get",
         [](scene& s) { sync_wait(s.pool, when_all(pass_on(s.a, s.b), pass_on(s.b, s.a))); }},
        {"three in a circle", "channel 'c' is full, 1 of 1: a coroutine waits to put",
         [](scene& s) {
             sync_wait(s.pool, when_all(put_then_get(s.a, s.c, 2), put_then_get(s.b, s.a, 2),
                                        put_then_get(s.c, s.b, 2)));
         }},
        {"a forgotten close", "channel 'a' is empty, 0 of 1: a coroutine waits to get",
         [](scene& s) { sync_wait(s.pool, when_all(take(s.a), take(s.b, 0))); }},
        {"a consumer that has left", "channel 'a' is full, 1 of 1: a coroutine waits to put",
         [](scene& s) { sync_wait(s.pool, when_all(put_then_get(s.a, s.b, 5), take(s.a, 1))); }},
        {"a thread that has left", "channel 'a' is empty, 0 of 1: a coroutine waits to get",
         [](scene& s) {
             std::thread feeds([&] { s.a.blocking_put(1); });
             sync_wait(s.pool, take(s.a));
             feeds.join();
         }},
        {"a function that waits", "channel 'a' is empty, 0 of 1: stage 'ask', slot 0 waits to get",
         [](scene& s) {
             const auto f = [&](int i) { return ask(s, i); };
             auto run = (weir::source({1, 2, 3, 4, 5, 6, 7}) | weir::pipe(f, {.name = "ask"}) | weir::sink())
                            .start(s.pool);
             drain(run);
         }},
        {"a function that blocks a worker", "stage 'block', slot 0 waits in its function",
         [](scene& s) {
             const auto block = [&](int i) {
                 step();
                 static_cast<void>(s.a.blocking_get());
                 return i;
             };
             auto run =
                 (weir::source({1, 2}) | weir::pipe(block, {.name = "block"}) | weir::sink()).start(s.pool);
             drain(run);
         }},
        {"a function that blocks where it may", "stage 'block', slot 0 waits in its function",
         [](scene& s) {
             const auto block = [&](int i) {
                 step();
                 static_cast<void>(s.a.blocking_get());
                 return i;
             };
             auto run = (weir::source({1, 2}) | weir::pipe(block, {.name = "block", .executor = &s.io}) |
                         weir::sink())
                            .start(s.pool);
             drain(run);
         }},
        {"turns", " for its turn to give an item on; that needs stage '",
         [](scene& s) {
             const auto f = [&](int i) -> task<int> {
                 if (i == 1) i = co_await ask(s, i);
                 step();
                 co_return i;
             };
             auto run =
                 (weir::source({1, 2, 3, 4, 5, 6}) |
                  weir::pipe(f,
                             {.name = "ask", .concurrency = 3, .output_order = weir::output_order::input}) |
                  weir::sink())
                     .start(s.pool);
             drain(run);
         }},
        {"a full loop", "channel 'a' is full, 1 of 1: stage 'twice', slot 0 waits to put",
         [](scene& s) {
             const auto next = [&]() -> task<std::optional<int>> {
                 step();
                 auto got = co_await s.a.get();
                 co_return got;
             };
             const auto twice = [&](int i) -> task<int> {
                 step();
                 static_cast<void>(co_await s.a.put(int(i)));
                 step();
                 static_cast<void>(co_await s.a.put(int(i)));
                 co_return i;
             };
             static_cast<void>(s.a.try_put(1));
             auto run =
                 (weir::source(next) | weir::pipe(twice, {.name = "twice"}) | weir::sink(1)).start(s.pool);
             drain(run);
         }},
        {"a consumer elsewhere",
         "channel 'pipe#1 | sink' is full, 4 of 4: stage 'pipe#1', slot 0 waits to put",
         [](scene& s) {
             const auto f = [](int i) {
                 step();
                 return i;
             };
             auto run =
                 (weir::source({1, 2, 3, 4, 5, 6, 7, 8, 9}) | weir::pipe(f) | weir::sink(1)).start(s.pool);
             static_cast<void>(run.get());
             step();
             static_cast<void>(s.a.blocking_get());
         }},
        {"its own run, while others go on",
         "channel 'ask | sink' is empty, 0 of 35: stage 'ask', slot 0 waits to get",
         [](scene& s) {
             weir::run<int>* from = nullptr;
             const auto f = [&](int i) -> task<int> {
                 const auto got = co_await next_of(from, s.b);
                 co_return got ? *got : i;
             };
             auto run =
                 (weir::source({1, 2, 3}) | weir::pipe(f, {.name = "ask"}) | weir::sink()).start(s.pool);
             from = &run;
             s.end = [&] { run.stop(); };
             static_cast<void>(s.b.try_put(1));
             sync_wait(s.pool, s.go_on());
         }},
        {"two runs, while others go on",
         "channel 'second | sink' is empty, 0 of 35: stage 'first', slot 0 waits to get",
         [](scene& s) {
             weir::run<int>* to_first = nullptr;
             weir::run<int>* to_second = nullptr;
             const auto first = [&] { return next_of(to_first, s.b); };
             const auto second = [&] { return next_of(to_second, s.c); };
             auto one = (weir::source(first, {.name = "first"}) | weir::sink()).start(s.pool);
             auto two = (weir::source(second, {.name = "second"}) | weir::sink()).start(s.pool);
             to_first = &two;
             to_second = &one;
             s.end = [&] { one.stop(); };
             static_cast<void>(s.b.try_put(1));
             static_cast<void>(s.c.try_put(1));
             sync_wait(s.pool, s.go_on());
         }},
    };
}

}  // namespace

int main(int argc, char** argv) try {
    const int times = argc > 1 ? std::stoi(argv[1]) : 100;
    bool right = true;
    for (const seeded& each : all()) {
        std::vector<std::int64_t> took;
        for (int i = 0; i < times; ++i) {
            scene s;
            bool named = false;
            const weir::watchdog dog({s.pool, s.io}, {.on_deadlock = [&](const weir::deadlock_report& r) {
                                         took.push_back(now() - last_step);
                                         named = named || without_places(r.text()).find(each.names) !=
                                                              std::string::npos;
                                         if (!named) std::cout << r << '\n';
                                         s.release();
                                     }});
            each.make(s);
            right = right && named;
        }
        std::sort(took.begin(), took.end());
        right = right && took.back() <= 100'000'000;
        std::cout << each.name << ": " << took.size() << " reports, median "
                  << static_cast<double>(took[took.size() / 2]) / 1e6 << " ms, at most "
                  << static_cast<double>(took.back()) / 1e6 << " ms" << std::endl;
    }
    std::cout << (right ? "all named in time\n" : "NOT all named in time\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
