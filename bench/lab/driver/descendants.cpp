// lab driver: finds and ends the processes that a child left behind
#include "lab/driver/descendants.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace lab {

namespace {

// Children of all threads, because any thread may become their parent.
std::vector<pid_t> own_children() {
    std::vector<pid_t> all;
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
        std::ifstream in(thread.path() / "children");
        for (pid_t child = 0; in >> child;) all.push_back(child);
    }
    return all;
}

}  // namespace

descendants::descendants() : before_(own_children()) {
#if defined(__linux__)
    ::prctl(PR_GET_CHILD_SUBREAPER, &was_reaper_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

descendants::~descendants() {
#if defined(__linux__)
    ::prctl(PR_SET_CHILD_SUBREAPER, was_reaper_);
#endif
}

int descendants::end_all_but_these() const {
    int killed = 0;
    for (int round = 0; round < 5000; ++round) {  // some seconds, because a process may hang in the kernel
        bool any = false;
        for (const pid_t child : own_children()) {
            if (std::find(before_.begin(), before_.end(), child) != before_.end()) continue;
            any = true;
            ::kill(child, SIGKILL);
            int status = 0;
            if (::waitpid(child, &status, WNOHANG) == child && WIFSIGNALED(status) &&
                WTERMSIG(status) == SIGKILL)
                ++killed;
        }
        if (!any) break;
        ::poll(nullptr, 0, 1);
    }
    return killed;
}

}  // namespace lab
