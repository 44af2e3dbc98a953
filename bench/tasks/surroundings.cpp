#include "surroundings.hpp"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

extern char** environ;

namespace tasks {
namespace {

constexpr const char* pad_variable = "WEIR_TASKS_PAD";
constexpr const char* anew_variable = "WEIR_TASKS_STARTED_ANEW";

bool is_random() {
    int level = 0;
    std::ifstream("/proc/sys/kernel/randomize_va_space") >> level;
    return level != 0 && (static_cast<unsigned>(personality(0xffffffffU)) & ADDR_NO_RANDOMIZE) == 0;
}

std::size_t pad() {
    const char* const text = std::getenv(pad_variable);
    return text == nullptr ? 0 : std::strlen(text);
}

std::string why() { return std::strerror(errno); }

struct policy {
    const char* name;
    int number;
};
constexpr std::array policies{policy{"other", SCHED_OTHER}, policy{"batch", SCHED_BATCH},
                              policy{"fifo", SCHED_FIFO}};

std::string allocator() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        for (const char* const each : {"jemalloc", "mimalloc", "tcmalloc"}) {
            if (line.find(std::string("/lib") + each) != line.npos) return each;
        }
    }
    return "glibc";
}

}  // namespace

void start_anew_if_needed(const values& asked, char** argv) {
    const bool wrong_aslr = asked.has("env_aslr") && is_random() != asked.is("env_aslr", "on");
    const bool wrong_pad = asked.has("env_pad") && pad() != static_cast<std::size_t>(asked.of("env_pad"));
    if (!wrong_aslr && !wrong_pad) return;
    if (std::getenv(anew_variable) != nullptr) {
        throw refusal{std::string(wrong_aslr ? "env_aslr=" + asked.text("env_aslr") : "env_pad") +
                      " can't be had here: started anew, the program finds it as it was"};
    }
    if (wrong_aslr) {
        const auto now = static_cast<unsigned>(personality(0xffffffffU));
        const unsigned then =
            asked.is("env_aslr", "on") ? now & ~unsigned{ADDR_NO_RANDOMIZE} : now | ADDR_NO_RANDOMIZE;
        if (personality(then) == -1) throw refusal{"env_aslr=" + asked.text("env_aslr") + ": " + why()};
    }
    if (wrong_pad)
        setenv(pad_variable, std::string(static_cast<std::size_t>(asked.of("env_pad")), 'x').c_str(), 1);
    setenv(anew_variable, "1", 1);
    execv("/proc/self/exe", argv);
    throw refusal{"the program can't be started anew for env_aslr or env_pad: " + why()};
}

void set_process(const values& asked) {
    unsetenv(anew_variable);
    if (asked.has("env_nice") && setpriority(PRIO_PROCESS, 0, static_cast<int>(asked.of("env_nice"))) != 0) {
        throw refusal{"env_nice=" + asked.text("env_nice") + ": " + why() +
                      "; less than now needs the right to it"};
    }
    for (const policy& each : policies) {
        if (!asked.has("env_sched") || !asked.is("env_sched", each.name)) continue;
        sched_param priority{};
        priority.sched_priority = each.number == SCHED_FIFO ? 1 : 0;
        if (sched_setscheduler(0, each.number, &priority) != 0) {
            throw refusal{"env_sched=" + std::string(each.name) + ": " + why() +
                          "; it needs the right to it"};
        }
    }
    if (asked.has("env_thp") && prctl(PR_SET_THP_DISABLE, asked.is("env_thp", "off") ? 1 : 0, 0, 0, 0) != 0) {
        throw refusal{"env_thp=" + asked.text("env_thp") + ": " + why()};
    }
}

void tell_surroundings(values& effective, pid_t thread) {
    const int scheduler = sched_getscheduler(thread);
    effective.set("env_sched", "unknown");
    for (const policy& each : policies) {
        if (each.number == scheduler) effective.set("env_sched", each.name);
    }
    effective.set("env_nice", getpriority(PRIO_PROCESS, static_cast<id_t>(thread)));
    effective.set("env_malloc", allocator());
    effective.set("env_thp", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1 ? "off" : "on");
    effective.set("env_aslr", is_random() ? "on" : "off");
    effective.set("env_pad", static_cast<integer>(pad()));
}

integer threads_named(const std::string& begin) {
    integer found = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(each.path() / "comm"), name);
        if (name.starts_with(begin)) ++found;
    }
    return found;
}

std::size_t bytes_of_environment() {
    std::size_t all = 0;
    for (char** each = environ; *each != nullptr; ++each) all += std::strlen(*each) + 1;
    return all;
}

}  // namespace tasks
