#include <weir/report/explain_on_signal.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_on_signals.hpp>
#include <weir/task/sync_wait.hpp>

#include <condition_variable>
#include <csignal>
#include <cstddef>
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

using items::message_of;
using weir::explain_on_signal;

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

int same(int n) { return n; }

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
