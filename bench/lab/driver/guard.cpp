// lab driver: a pipe that only the end of this process closes
#include "lab/driver/guard.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace lab {

namespace {

// Runs in the guard process, and must not allocate.
[[noreturn]] void watch(int end, int held, pid_t group) {
    ::setpgid(0, 0);
    ::close(held);
    // A reader of this process's output must not wait for the guard.
    for (int file = 0; file < 3; ++file) ::close(file);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    char nothing = 0;
    while (::read(end, &nothing, 1) < 0 && errno == EINTR) {
    }
    ::kill(-group, SIGKILL);
    ::_exit(0);
}

}  // namespace

guard::guard(pid_t group) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return;  // without the guard the group survives if this process is killed
    process_ = ::fork();
    if (process_ == 0) watch(ends[0], ends[1], group);
    ::close(ends[0]);
    held_ = ends[1];
}

guard::~guard() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (held_ >= 0) ::close(held_);
}

}  // namespace lab
