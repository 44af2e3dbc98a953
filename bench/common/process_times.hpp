// The processor time of this process so far.
#ifndef BENCH_COMMON_PROCESS_TIMES_HPP
#define BENCH_COMMON_PROCESS_TIMES_HPP

#include <sys/resource.h>

#include <chrono>

namespace bench {

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Before main().
inline const double process_began = seconds_now();

// Processor time in seconds.
struct cpu_times {
    double user;
    double system;
};

// \param who  RUSAGE_SELF, or RUSAGE_CHILDREN: children that have ended and were waited for.
inline cpu_times cpu_times_of(int who) {
    rusage use{};
    getrusage(who, &use);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return {in_seconds(use.ru_utime), in_seconds(use.ru_stime)};
}

inline double cpu_seconds() {
    const cpu_times own = cpu_times_of(RUSAGE_SELF);
    return own.user + own.system;
}

}  // namespace bench

#endif
