// What becomes of a process that is forbidden what it relies on. Forked, as nobody can take a filter off again.
#include <weir/platform/biased_lock.hpp>

#include "support/catch.hpp"

#if defined(__linux__)

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <string>

namespace {

// From now on the system refuses membarrier. False where a process can't ask for that.
bool forbid_membarrier() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, nr))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// How a child ends that is forbidden membarrier and then calls the function, and what it says meanwhile.
struct end_of_child {
    int status = 0;
    std::string said;
};
template <class Function>
end_of_child without_membarrier(Function function) {
    int ends[2] = {};
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        std::signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        if (!forbid_membarrier()) _exit(77);
        function();
        _exit(0);
    }
    close(ends[1]);
    end_of_child end;
    char some[256];
    for (ssize_t n = 0; (n = read(ends[0], some, sizeof some)) > 0;) {
        end.said.append(some, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    waitpid(child, &end.status, 0);
    return end;
}

}  // namespace

TEST_CASE("a process in which membarrier is forbidden when a lock relies on it ends with a sentence") {
    if (!weir::detail::standard_platform::has_heavy_fence()) return;
    using lock_type = weir::detail::basic_biased_lock<>;
    const end_of_child end = without_membarrier([] {
        lock_type lock;
        lock.reserve();
        {
            const lock_type::guard held(lock);
        }
        const lock_type::guard held(lock, nullptr);  // as another thread, which has to take it away
    });
    if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 77) return;
    CHECK(WIFSIGNALED(end.status));
    CHECK(WTERMSIG(end.status) == SIGABRT);
    CHECK(end.said.find("weir: the system call membarrier was allowed when the program began") !=
          std::string::npos);
}

TEST_CASE("what no lock relies on may be forbidden") {
    const end_of_child end = without_membarrier([] {
        weir::detail::basic_biased_lock<> lock;
        const weir::detail::basic_biased_lock<>::guard held(lock);
    });
    CHECK(end.said.empty());
    CHECK(WIFEXITED(end.status));
}

#endif
