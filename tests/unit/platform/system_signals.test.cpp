#include <weir/platform/system_signals.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <string>
#include <thread>

#if !defined(_WIN32)
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#endif

namespace d = weir::detail;

#if !defined(_WIN32)
namespace {

// A pipe for signals that nobody else uses.
class own_pipe {
  public:
    own_pipe() {
        int ends[2];
        if (::pipe(ends) != 0) return;
        for (int i = 0; i < 2; ++i) pipe_.ends[i] = ends[i];
    }
    own_pipe(const own_pipe&) = delete;
    ~own_pipe() {
        if (!is_there()) return;
        end();
        ::close(pipe_.ends[0]);
    }
    bool is_there() const { return pipe_.ends[0] >= 0; }
    d::signal_pipe& get() { return pipe_; }
    // Nothing more comes.
    void end() {
        const int to = pipe_.ends[1].exchange(-1);
        if (to >= 0) ::close(to);
    }

  private:
    d::signal_pipe pipe_{&d::note_signal};
};

std::string heard;
void hear(int number) { heard += std::to_string(number) + ' '; }

std::atomic<int> interruptions{0};
void interrupt(int) { interruptions.fetch_add(1); }

}  // namespace

TEST_CASE("the listener gets each signal in order and ends with the pipe") {
    own_pipe mine;
    REQUIRE(mine.is_there());
    heard.clear();
    for (const int number : {2, 0, 15}) d::tell_signal_thread(mine.get(), number);
    mine.end();
    errno = EINTR;  // of an earlier call
    d::listen_for_signals(mine.get(), hear);
    CHECK(heard == "2 0 15 ");
}

TEST_CASE("a signal that is lost, as the pipe is full, does not keep the next one from being told") {
    own_pipe mine;
    REQUIRE(mine.is_there());
    ::fcntl(mine.get().ends[1], F_SETFL, O_NONBLOCK);
    const std::string much(4096, 'x');
    while (::write(mine.get().ends[1], much.data(), much.size()) > 0) {
    }
    while (::write(mine.get().ends[1], "x", 1) == 1) {
    }
    mine.get().is_noted[SIGUSR1] = true;
    d::tell_signal_thread(mine.get(), SIGUSR1);
    CHECK_FALSE(mine.get().is_noted[SIGUSR1]);
}

TEST_CASE("a handler of the program's own that interrupts who listens makes it miss nothing") {
    own_pipe mine;
    REQUIRE(mine.is_there());
    heard.clear();
    interruptions = 0;
    struct sigaction ours{};
    struct sigaction before{};
    ours.sa_handler = &interrupt;  // without SA_RESTART
    sigaction(SIGUSR1, &ours, &before);
    std::atomic<bool> listens{false};
    std::thread listener([&listens, &mine] {
        listens = true;
        d::listen_for_signals(mine.get(), hear);
        listens = false;
    });
    while (!listens) d::yield_thread();
    for (int sent = 0; sent < 1000 && listens; ++sent) {
        pthread_kill(listener.native_handle(), SIGUSR1);
        while (interruptions <= sent && listens) d::yield_thread();
    }
    d::tell_signal_thread(mine.get(), 15);
    mine.end();
    listener.join();
    sigaction(SIGUSR1, &before, nullptr);
    CHECK(heard == "15 ");
}
#else
namespace {

int told = 0;
void tell(int number) { told = number; }

}  // namespace

TEST_CASE("a signal is told once, on whichever thread it comes, and then is whoever's it was before") {
    void (*const before)(int) = std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
    REQUIRE(d::begin_signals<&tell>(d::signals_once));
    REQUIRE(d::catch_signal(SIGTERM));
    std::raise(SIGTERM);
    CHECK(told == SIGTERM);
    CHECK(std::signal(SIGTERM, before) == SIG_DFL);
    CHECK_FALSE(d::catch_signal(12345));
    CHECK(d::is_fault(SIGSEGV));
    CHECK_FALSE(d::is_fault(SIGINT));
}
#endif
