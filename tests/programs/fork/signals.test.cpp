// Signals from outside, as Ctrl-C is one, to a process of its own. Parent and child tell each other by a pipe how
// far they are.
#include <weir/task/stop_on_signals.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/platform/parking.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string_view>
#include <thread>
#include <utility>

namespace {

class child {
  public:
    // Does `function(tell)`, and ends with what that gives.
    template <class Function>
    explicit child(Function function) {
        int ends[2];
        if (pipe(ends) != 0) return;
        from_ = ends[0];
        pid_ = fork();
        if (pid_ == 0) {
            alarm(60);
            std::signal(SIGINT, SIG_DFL);
            close(ends[0]);
            _exit(function([to = ends[1]](char what) { return write(to, &what, 1) == 1; }));
        }
        close(ends[1]);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() { close(from_); }

    // 0: it has ended.
    char next() const {
        char what = 0;
        return read(from_, &what, 1) == 1 ? what : '\0';
    }
    void interrupt() const { kill(pid_, SIGINT); }
    int status() const {
        int how = 0;
        waitpid(pid_, &how, 0);
        return how;
    }

  private:
    int from_ = -1;
    pid_t pid_ = -1;
};

bool was_interrupted(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT; }

// Begins, says so, and takes items until the end of the run.
template <class Tell>
int consume(const Tell& tell) {
    const weir::stop_on_signals interrupted({SIGINT, SIGTERM});
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }, {.concurrency = 2}) |
                weir::sink(3))
                   .start(pool, {.stop = interrupted});
    static_cast<void>(run.get());
    tell('b');
    while (run.get()) continue;
    return run.outcome() == weir::run_outcome::stopped_by_token ? 42 : 1;
}

}  // namespace

TEST_CASE("Ctrl-C stops a run, and the program goes on to its own end") {
    const child it([](auto tell) { return consume(tell); });
    CHECK(it.next() == 'b');
    it.interrupt();
    const int status = it.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
}

TEST_CASE("a second Ctrl-C ends a program that doesn't stop") {
    const child it([](auto tell) {
        const weir::stop_on_signals interrupted({SIGINT});
        const weir::stop_callback hears(weir::stop_token(interrupted), [&] { tell('s'); });
        tell('b');
        while (true) pause();
        return 0;
    });
    CHECK(it.next() == 'b');
    it.interrupt();
    CHECK(it.next() == 's');
    it.interrupt();
    CHECK(was_interrupted(it.status()));
}

TEST_CASE("a Ctrl-C after the object is gone ends the program") {
    const child it([](auto tell) {
        {
            const weir::stop_on_signals gone({SIGINT});
        }
        tell('b');
        while (true) pause();
        return 0;
    });
    CHECK(it.next() == 'b');
    it.interrupt();
    CHECK(was_interrupted(it.status()));
}

TEST_CASE("in a forked process signals are handled as before, and may be taken anew") {
    const weir::stop_on_signals interrupted({SIGINT});
    const child plain([](auto tell) {
        tell('b');
        while (true) pause();
        return 0;
    });
    CHECK(plain.next() == 'b');
    plain.interrupt();
    CHECK(was_interrupted(plain.status()));

    const child anew([](auto tell) { return consume(tell); });
    CHECK(anew.next() == 'b');
    anew.interrupt();
    const int status = anew.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
    CHECK_FALSE(interrupted.stop_requested());
}

TEST_CASE("in a forked process the parent's objects may go, and the child's own objects stay") {
    std::optional<weir::stop_on_signals> first(std::in_place, std::initializer_list<int>{SIGINT});
    std::optional<weir::stop_on_signals> second(std::in_place, std::initializer_list<int>{SIGINT});
    const child it([&](auto tell) {
        const weir::stop_on_signals own({SIGINT});
        second.reset();
        first.reset();
        weir::detail::parker stopped;
        const weir::stop_callback hears(weir::stop_token(own), [&] { stopped.set(); });
        tell('b');
        stopped.wait();
        return 42;
    });
    CHECK(it.next() == 'b');
    it.interrupt();
    const int status = it.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
    CHECK_FALSE(first->stop_requested());
}

TEST_CASE("in a forked process a signal that the parent catches is handled as before that") {
    struct sigaction before{};
    sigaction(SIGUSR2, nullptr, &before);
    const auto is_as_before = [&before] {
        struct sigaction now{};
        sigaction(SIGUSR2, nullptr, &now);
        return now.sa_handler == before.sa_handler;
    };
    const weir::stop_on_signals interrupted({SIGUSR2});
    CHECK_FALSE(is_as_before());
    const child it([&](auto) { return is_as_before() ? 42 : 1; });
    const int status = it.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
    CHECK_FALSE(is_as_before());
}

namespace {
weir::detail::spin_lock held;
}

TEST_CASE("a signal handler that waits for a lock of its own thread ends the program, and says so") {
    const child it([](auto tell) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        int words[2];
        if (pipe(words) != 0) return 1;
        const pid_t waits = fork();
        if (waits == 0) {
            alarm(60);
            std::signal(SIGABRT, SIG_DFL);
            dup2(words[1], STDERR_FILENO);
            std::signal(SIGUSR1, [](int) { held.lock(); });
            held.lock();
            raise(SIGUSR1);
            _exit(0);
        }
        close(words[1]);
        char text[1000];
        const ssize_t n = read(words[0], text, sizeof text);
        int how = 0;
        waitpid(waits, &how, 0);
        const std::string_view said(text, n > 0 ? static_cast<std::size_t>(n) : 0);
        tell(said.starts_with("weir: a signal handler waits for a lock") ? 'y' : 'n');
        return WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT ? 42 : 1;
    });
    CHECK(it.next() == 'y');
    const int status = it.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
}

TEST_CASE("a lock that is held for long elsewhere is waited for") {
    const child it([](auto tell) {
        weir::detail::spin_lock lock;
        std::atomic<int> looks{0};
        lock.lock();
        std::thread other([&] {
            for (int round = 0; round < 1300; ++round) lock.wait_between_looks(round);
            looks = 1;
            tell('w');
        });
        other.join();
        return looks == 1 ? 42 : 1;
    });
    CHECK(it.next() == 'w');
    const int status = it.status();
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
}
