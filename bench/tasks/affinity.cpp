#include "surroundings.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tasks {

affinity::affinity(const values& asked, unsigned workers)
    : level_(asked.text("env_affinity")), workers_(workers), threads_(workers) {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) {
        throw refusal{"env_affinity: the system doesn't say which cores there are: " +
                      std::string(std::strerror(errno))};
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &before_)) allowed_.push_back(cpu);
    }
}

cpu_set_t affinity::wanted(const std::string& level, unsigned worker) const {
    if (level == "none") return before_;
    const std::size_t n = allowed_.size();
    std::size_t place = worker % n;
    if (level == "reverse") place = n - 1 - place;
    if (level == "single") place = 0;
    // With more workers than cores, workers take cores in turn.
    if (level == "spread" && workers_ < n) place = worker * n / workers_;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed_[place], &one);
    return one;
}

void affinity::set(unsigned worker) {
    threads_[worker] = gettid();
    if (level_ == "none") return;
    const cpu_set_t cores = wanted(level_, worker);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
        throw refusal{"env_affinity=" + level_ + ": " + std::strerror(errno)};
    }
}

bool affinity::is(const std::string& level) const {
    for (unsigned worker = 0; worker < workers_; ++worker) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        const cpu_set_t expected = wanted(level, worker);
        if (sched_getaffinity(threads_[worker], sizeof cores, &cores) != 0) return false;
        if (!CPU_EQUAL(&cores, &expected)) return false;
    }
    return true;
}

// On few cores some levels are equal; then the requested one is reported.
void affinity::tell(values& effective) const {
    effective.set("env_affinity", "other");
    for (const choice& each : find_factor("env_affinity")->levels) {
        if (is(each.level)) effective.set("env_affinity", each.level);
    }
    if (is(level_)) effective.set("env_affinity", level_);
}

std::string affinity::map_text() const {
    std::string all;
    for (const pid_t thread : threads_) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        sched_getaffinity(thread, sizeof cores, &cores);
        if (!all.empty()) all += ',';
        const char* between = "";
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (!CPU_ISSET(cpu, &cores)) continue;
            all += between;
            all += std::to_string(cpu);
            between = "-";
        }
    }
    return all;
}

unsigned affinity::cores() const {
    cpu_set_t any;
    CPU_ZERO(&any);
    for (const pid_t thread : threads_) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        sched_getaffinity(thread, sizeof cores, &cores);
        CPU_OR(&any, &any, &cores);
    }
    return static_cast<unsigned>(CPU_COUNT(&any));
}

}  // namespace tasks
