// Processes that get SIGUSR1 from outside, and print on their stderr, which is a pipe here.
#include <weir/report/explain_all_runs.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <ranges>
#include <string>

namespace {

class child {
  public:
    // Does `function()` in a process of its own.
    template <class Function>
    explicit child(Function function) {
        int ends[2];
        if (pipe(ends) != 0) return;
        from_ = ends[0];
        pid_ = fork();
        if (pid_ == 0) {
            alarm(60);
            close(ends[0]);
            dup2(ends[1], STDERR_FILENO);
            dup2(ends[1],
                 STDOUT_FILENO);  // a child of this process may outlive the test, whose output ends before
            function();
            _exit(0);
        }
        close(ends[1]);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        close(from_);
    }

    // What the process prints, up to the end of this part. Less: the process has ended.
    std::string text_with(const std::string& part) const {
        std::string text;
        char next = 0;
        while (text.find(part) == std::string::npos && read(from_, &next, 1) == 1) text += next;
        return text;
    }
    void send(int number) const { kill(pid_, number); }
    int status() const {
        int how = 0;
        waitpid(pid_, &how, 0);
        return how;
    }

  private:
    int from_ = -1;
    pid_t pid_ = -1;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void say(const std::string& what) {
    [[maybe_unused]] const auto n = write(STDERR_FILENO, what.data(), what.size());
}

}  // namespace

TEST_CASE("a process with a run that is stuck says for what each slot waits, as often as it is asked") {
    const child it([] {
        weir::explain_on_signal(SIGUSR1);
        weir::thread_pool pool(2);
        auto run = (weir::source(std::views::iota(0), {.name = "numbers"}) |
                    weir::pipe(
                        [](int n) {
                            while (n == 2) pause();
                            return n;
                        },
                        {.name = "hang"}) |
                    weir::sink(3))
                       .start(pool, {.consumers_help = false});
        static_cast<void>(run.get());
        say("begun\n");
        while (run.get()) continue;
    });
    CHECK(has(it.text_with("begun\n"), "begun\n"));
    for (int i = 0; i < 3; ++i) {
        std::string text;
        // The slots need time to get there.
        while (!has(text, "consumer: a thread waits to get\n") || !has(text, "channel 'numbers' is full")) {
            it.send(SIGUSR1);
            text = it.text_with("verdict so far: ");
            REQUIRE(has(text, "verdict so far: "));
        }
        CHECK(has(text, "run 1: numbers | hang | sink; "));
        CHECK(has(text, "slot 0: waiting to put for "));
        CHECK(has(text, "slot 0: working for "));
    }
}

TEST_CASE("a process with a run that works goes on after each explanation") {
    const child it([] {
        weir::explain_on_signal(SIGUSR1);
        weir::thread_pool pool(2);
        auto run = (weir::source(std::views::iota(0)) |
                    weir::pipe([](int n) { return n; }, {.name = "copy", .concurrency = 2}) | weir::sink(3))
                       .start(pool);
        say("begun\n");
        while (run.get()) continue;
    });
    CHECK(has(it.text_with("begun\n"), "begun\n"));
    for (int i = 0; i < 3; ++i) {
        it.send(SIGUSR1);
        const std::string text = it.text_with("verdict so far: ");
        CHECK(has(text, "run 1: src | copy | sink; "));
    }
}

TEST_CASE("in a forked process the signal is handled as before, and may be taken anew") {
    const child it([] {
        weir::explain_on_signal(SIGUSR1);
        const pid_t plain = fork();
        if (plain == 0) {
            raise(SIGUSR1);
            _exit(0);
        }
        int how = 0;
        waitpid(plain, &how, 0);
        say(WIFSIGNALED(how) && WTERMSIG(how) == SIGUSR1 ? "ended by it\n" : "not ended by it\n");
        const pid_t anew = fork();
        if (anew == 0) {
            alarm(60);
            weir::explain_on_signal(SIGUSR1);
            kill(getpid(), SIGUSR1);
            while (true) pause();
        }
        while (true) pause();
    });
    CHECK(it.text_with("ended by it\n") == "ended by it\n");
    CHECK(has(it.text_with("no run is in progress"), "no run is in progress"));
}

TEST_CASE("a process may end while signals come") {
    const child it([] {
        weir::explain_on_signal(SIGUSR1);
        say("begun\n");
        for (int i = 0; i < 100; ++i) kill(getpid(), SIGUSR1);
    });
    CHECK(has(it.text_with("begun\n"), "begun\n"));
    it.text_with("never printed");  // up to the end
    const int how = it.status();
    CHECK((WIFEXITED(how) && WEXITSTATUS(how) == 0));
}
