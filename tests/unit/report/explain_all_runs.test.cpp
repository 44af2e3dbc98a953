#include <weir/report/explain_all_runs.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/semaphore.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_on_signals.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>
#include <ostream>
#include <ranges>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

using namespace std::chrono_literals;
using items::message_of;
using weir::explain_on_signal;
using weir::detail::activity_lines;
using weir::detail::slots_text;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The threads need time to get there: asks until the text has these parts.
template <class... Parts>
std::string text_with(const Parts&... parts) {
    std::string text;
    while (!(has(text, parts) && ...)) {
        text = weir::explain_all_runs();
        std::this_thread::yield();
    }
    return text;
}

int same(int n) { return n; }

}  // namespace

TEST_CASE("numbers of slots that follow each other are written as a range") {
    CHECK(slots_text({3}) == "slot 3");
    CHECK(slots_text({0, 1}) == "slots 0, 1");
    CHECK(slots_text({0, 1, 2, 5}) == "slots 0-2, 5");
    CHECK(slots_text({1, 3, 4, 6, 7, 8}) == "slots 1, 3, 4, 6-8");
}

TEST_CASE("slots that do the same share a line, with the shortest and the longest time") {
    activity_lines lines;
    lines.add(0, {"waiting to put", 3ms, "; channel 'a' is full, 2 of 2"});
    lines.add(1, {"working", 1ms, {}});
    lines.add(2, {"waiting to put", 1ms, "; channel 'a' is full, 2 of 2"});
    lines.add(3, {"waiting to put", 2ms, "; channel 'a' is full, 2 of 2"});
    lines.add(4, {"ended", {}, {}});
    CHECK(lines.text() ==
          "    slots 0, 2, 3: waiting to put for 1.0 ms to 3.0 ms; channel 'a' is full, 2 of 2\n"
          "    slot 1: working for 1.0 ms\n"
          "    slot 4: ended\n");
}

TEST_CASE("the verdict on a run with large batches takes no longer than others: the states alone tell it") {
    weir::virtual_time time;
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(slow) | weir::sink()).start(time);
    run.drain();
    weir::pipeline_stats stats = run.stats();
    CHECK(has(weir::detail::sentence_on(stats), "would bring"));
    // As if each item of the consumer were a batch of so many.
    stats.stages[0].num_tasks *= 100'000;
    stats.channels.at(stats.stages[0].outputs.at(0)).num_put *= 100'000;
    CHECK(has(weir::detail::sentence_on(stats),
              "only the states of the slots tell it: a prediction takes too long"));
}

TEST_CASE("without a run, the explanation says that there is none") {
    CHECK(has(weir::explain_all_runs(), "no run is in progress, except on virtual time\n"));
    weir::virtual_time time;
    auto run = (weir::source({1, 2}) | weir::pipe(same) | weir::sink()).start(time);
    CHECK(has(weir::explain_all_runs(), "no run is in progress, except on virtual time\n"));
}

TEST_CASE("a run whose consumer takes nothing: each slot waits to put, and the queues are full") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(same, {.name = "copy", .concurrency = 3}) |
                weir::sink(3))
                   .start(pool);
    // A slot that has just been given a place still counts as waiting: only with all queues full nothing moves any more.
    const std::string text =
        text_with("; 2 of 2 items in the queue behind it\n    slot 0: waiting to put for ",
                  "slots 0-2: waiting to put for ", "; channel 'src' is full, 2 of 2\n",
                  "; channel 'copy | sink' is full, 6 of 6\n", ": 3 of 3 items in the queue");
    CHECK(has(text, ": 1 run is in progress\nrun 1: src | copy | sink; 0 items in "));
    CHECK(has(text, "; nothing has moved for "));
    CHECK(has(text, "  stage 'src' (explain_all_runs.test.cpp:"));
    CHECK(has(text, "  stage 'sink': 3 of 3 items in the queue behind it\n"));
    CHECK(has(text, "  consumer: takes no item now\n"));
    CHECK(has(text, "  verdict so far: not sure why it is not faster: "));
}

TEST_CASE("names of stages can't move the cursor of a terminal") {
    weir::thread_pool pool(1);
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(slow, {.name = "a\x1b[2Jb"}) | weir::sink(3))
                   .start(pool);
    for (int i = 0; i < 60; ++i) static_cast<void>(run.get());
    const std::string text = text_with("channel 'a?[2Jb | sink' is full, 6 of 6");
    CHECK(has(text, "stage 'a?[2Jb'"));
    CHECK(has(text, "verdict so far: "));
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("a slot whose function has a thread works; the slots behind it wait to get, as the consumer does") {
    weir::thread_pool pool(2);
    semaphore go_on(0);
    auto run = (weir::source({1}) |
                weir::pipe(
                    [&](int n) {
                        go_on.acquire();
                        return n;
                    },
                    {.name = "work"}) |
                weir::pipe(same, {.name = "next"}) | weir::sink())
                   .start(pool, {.consumers_help = false});
    std::thread consumer([&] { static_cast<void>(run.get()); });
    text_with("slot 0: working for ");
    // The last part is of the source.
    text_with("  consumer: a thread waits to get\n", "slot 0: waiting to get for ",
              "; channel 'work' is empty, 0 of 2\n", "    slot 0: ended\n");
    go_on.release();
    consumer.join();
}

TEST_CASE("a slot whose function is suspended awaits; if it waits for a channel, the channel is named") {
    weir::thread_pool pool(2);
    weir::channel<int> other(1, pool, "other");
    auto run = (weir::source({1}) |
                weir::pipe(
                    [&](int n) -> weir::task<int> {
                        const auto found = co_await other.get();
                        co_return n + found.value_or(0);
                    },
                    {.name = "ask"}) |
                weir::sink())
                   .start(pool);
    const std::string text = text_with("its function is waiting to get for ");
    CHECK(has(text, "; channel 'other' is empty, 0 of 1\n"));
    CHECK_FALSE(has(text, "outside of runs"));
    other.close();
}

TEST_CASE("slots of a paused run, and slots out of service, say for what they wait") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(same, {.name = "copy", .concurrency = 2}) |
                weir::sink())
                   .start(pool);
    std::thread consumer([&] {
        while (run.get()) continue;
    });
    run.pause();
    text_with("waiting for the run to be resumed for ");
    run.resume();
    run.set_concurrency("copy", 1);
    text_with("slot 1: waiting out of service for ");
    run.request_stop();
    consumer.join();
}

TEST_CASE("a run that measures nothing has waits, but neither times nor a verdict") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(same, {.name = "copy"}) | weir::sink(3))
                   .start<weir::unmeasured>(pool);
    const std::string text = text_with("slot 0: waiting to put; channel 'copy | sink' is full, 6 of 6\n");
    CHECK(has(text, "  no verdict, as the run measures nothing (weir::unmeasured)\n"));
    CHECK_FALSE(has(text, " tasks"));
}

TEST_CASE("a run that goes on has a verdict") {
    weir::thread_pool pool(2);
    auto run =
        (weir::source(std::views::iota(0)) | weir::pipe(same, {.name = "work"}) | weir::sink()).start(pool);
    for (int i = 0; i < 200; ++i) static_cast<void>(run.get());
    const std::string text = weir::explain_all_runs();
    CHECK(has(text, "200 items in "));
    CHECK(has(text, "  verdict so far: "));
}

TEST_CASE("a run that has ended is not in progress, and its verdict is final") {
    weir::thread_pool pool(2);
    const auto p = weir::source(std::views::iota(0, 20)) | weir::pipe(same, {.name = "work"}) | weir::sink();
    auto ended = p.start(pool);
    while (ended.get()) continue;
    const std::string text = weir::explain_all_runs();
    CHECK(has(text, ": no run is in progress, except on virtual time; ended: 1\n"));
    CHECK(has(text, "run 1: src | work | sink; ended; 20 items in "));
    CHECK_FALSE(has(text, "nothing has moved"));
    CHECK_FALSE(has(text, "consumer:"));
    CHECK(has(text, "\n  verdict: "));
    auto run = p.start(pool);
    auto stopped = p.start(pool);
    stopped.request_stop();
    text_with(": 1 run is in progress; ended: 2\n");
    while (run.get()) continue;
    CHECK(has(weir::explain_all_runs(), ": no run is in progress, except on virtual time; ended: 3\n"));
}

TEST_CASE("coroutines that wait outside of runs are listed apart") {
    weir::thread_pool pool(1);
    weir::channel<int> lonely(1, pool, "lonely");
    std::thread waits([&] { static_cast<void>(weir::sync_wait(pool, lonely.get())); });
    const std::string text = text_with("outside of runs:");
    CHECK(has(text, "outside of runs:\n  channel 'lonely' is empty, 0 of 1: a coroutine waits to get\n"));
    lonely.close();
    waits.join();
}

TEST_CASE("of many coroutines that wait outside of runs, the first are listed, and the others counted") {
    weir::thread_pool pool(1);
    std::vector<std::unique_ptr<weir::channel<int>>> lonely;
    weir::task_group waits(pool);
    for (int i = 0; i < 55; ++i) {
        lonely.push_back(std::make_unique<weir::channel<int>>(1, pool, "lonely " + std::to_string(i)));
        waits.spawn([](weir::channel<int>& from) -> weir::task<> {
            static_cast<void>(co_await from.get());
        }(*lonely.back()));
    }
    text_with("outside of runs:", "\n  and 5 more\n");
    for (const auto& each : lonely) each->close();
    weir::sync_wait(pool, waits.join());
}

TEST_CASE("runs begin and end while they are explained") {
    weir::thread_pool pool(2);
    std::atomic<bool> over{false};
    std::thread asks([&] {
        while (!over) static_cast<void>(weir::detail::present_runs().states());
    });
    for (int i = 0; i < 100; ++i) {
        int sum = 0;
        auto run = (weir::source(std::views::iota(0, 20)) |
                    weir::pipe(same, {.name = "copy", .concurrency = 2}) | weir::sink())
                       .start(pool);
        while (const auto item = run.get()) sum += *item;
        CHECK(sum == 190);
    }
    over = true;
    asks.join();
}

namespace {

// A stream that other threads write, and what was written. It lives until the process ends.
class text_stream : private std::streambuf, public std::ostream {
  public:
    text_stream() : std::ostream(this) {}

    // Waits until the text has this part at or behind `from`. Returns the end of the part.
    std::size_t wait_for(const std::string& part, std::size_t from = 0) {
        std::unique_lock lock(lock_);
        std::size_t at = std::string::npos;
        more_.wait(lock, [&] { return (at = text_.find(part, from)) != std::string::npos; });
        return at + part.size();
    }
    std::string text() {
        const std::lock_guard lock(lock_);
        return text_;
    }

  private:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        const std::lock_guard lock(lock_);
        text_.append(text, static_cast<std::size_t>(size));
        more_.notify_all();
        return size;
    }

    std::mutex lock_;
    std::condition_variable more_;
    std::string text_;
};

#if defined(_WIN32)

TEST_CASE("without the signals of POSIX, a sentence says what to call instead") {
    CHECK(message_of([] { explain_on_signal(SIGINT); }) ==
          "weir: signal 2 can't print explanations: this system has no signals of POSIX; call "
          "explain_all_runs, which returns the text");
}

#else

text_stream& shown = *new text_stream;

void send(int number) { kill(getpid(), number); }

#endif

}  // namespace

#if !defined(_WIN32)

TEST_CASE("each signal prints the states of all runs, then a verdict on each") {
    explain_on_signal(SIGUSR1, shown);
    weir::thread_pool pool(2);
    auto run =
        (weir::source(std::views::iota(0)) | weir::pipe(same, {.name = "copy"}) | weir::sink(3)).start(pool);
    std::size_t end = 0;
    for (int i = 0; i < 3; ++i) {
        send(SIGUSR1);
        end = shown.wait_for(": 1 run is in progress\nrun 1: src | copy | sink; ", end);
        end = shown.wait_for("  consumer: takes no item now\n", end);
        end = shown.wait_for("weir: run 1: verdict so far: ", end);
        end = shown.wait_for("\n", end);
    }
    // The run goes on.
    for (int i = 0; i < 10; ++i) CHECK(run.get() == i);
}

TEST_CASE("a further call with the same signal replaces the stream") {
    auto& other = *new text_stream;
    explain_on_signal(SIGUSR1, shown);
    explain_on_signal(SIGUSR1, other);
    const std::string before = shown.text();
    send(SIGUSR1);
    other.wait_for("no run is in progress");
    CHECK(shown.text() == before);
}

TEST_CASE("two signals print to two streams") {
    auto& other = *new text_stream;
    explain_on_signal(SIGUSR1, shown);
    explain_on_signal(SIGUSR2, other);
    const std::size_t end = shown.text().size();
    send(SIGUSR2);
    other.wait_for("no run is in progress");
    send(SIGUSR1);
    shown.wait_for("no run is in progress", end);
}

TEST_CASE("a signal that all other threads block is printed by the thread of the library") {
    explain_on_signal(SIGUSR1, shown);
    const std::size_t end = shown.text().size();
    sigset_t one;
    sigset_t before;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    send(SIGUSR1);
    shown.wait_for("no run is in progress", end);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a stream that throws does not end the program, and the next signal is printed") {
    auto& broken = *new text_stream;
    broken.setstate(std::ios::failbit);
    CHECK_THROWS_AS(broken.exceptions(std::ios::failbit), std::ios::failure);
    explain_on_signal(SIGUSR1, broken);
    send(SIGUSR1);
    explain_on_signal(SIGUSR1, shown);
    const std::size_t end = shown.text().size();
    send(SIGUSR1);
    shown.wait_for("no run is in progress", end);
}

TEST_CASE("a signal that can't be caught, reports a fault, or has a handler is refused with a sentence") {
    const std::string uncaught =
        " can't print explanations: it can't be caught, or reports a fault; give explain_on_signal SIGUSR1 "
        "or SIGUSR2";
    for (const int number : {0, -1, 100'000, SIGKILL, SIGSTOP, SIGSEGV, SIGABRT}) {
        CHECK(message_of([&] { explain_on_signal(number); }) ==
              "weir: signal " + std::to_string(number) + uncaught);
    }
    const std::string taken =
        " can't print explanations: the program has a handler for it, or stop_on_signals; give "
        "explain_on_signal another signal, as SIGUSR1 or SIGUSR2";
    {
        const weir::stop_on_signals interrupted({SIGHUP});
        CHECK(message_of([] { explain_on_signal(SIGHUP); }) ==
              "weir: signal " + std::to_string(SIGHUP) + taken);
    }
    std::signal(SIGALRM, [](int) {});
    CHECK(message_of([] { explain_on_signal(SIGALRM); }) ==
          "weir: signal " + std::to_string(SIGALRM) + taken);
    std::signal(SIGALRM, SIG_DFL);
}

TEST_CASE("stop_on_signals takes the signal over once, and gives it back") {
    explain_on_signal(SIGUSR1, shown);
    {
        const weir::stop_on_signals interrupted({SIGUSR1});
        send(SIGUSR1);
        while (!interrupted.stop_requested()) std::this_thread::yield();
    }
    const std::size_t end = shown.text().size();
    send(SIGUSR1);
    shown.wait_for("no run is in progress", end);
}

TEST_CASE("after a print, a watchdog still finds that everything waits") {
    explain_on_signal(SIGUSR1, shown);
    const std::size_t end = shown.text().size();
    weir::thread_pool pool(1);
    weir::channel<int> lonely(1, pool, "lonely");
    std::thread waits([&] { static_cast<void>(weir::sync_wait(pool, lonely.get())); });
    send(SIGUSR1);
    shown.wait_for("no run is in progress", end);
    std::vector<weir::deadlock_report> found;
    weir::watchdog dog(pool, {.period = weir::duration(0),
                              .on_deadlock = [&](const weir::deadlock_report& r) { found.push_back(r); }});
    while (found.empty()) dog.inspect();
    CHECK(found[0].waits[0].channel == "lonely");
    lonely.close();
    waits.join();
}

#endif
