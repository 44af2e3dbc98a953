// Assigns the machine's cores to threads.
#ifndef BENCH_CUDA_CORES_HPP
#define BENCH_CUDA_CORES_HPP

#include "common/harness.hpp"

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace bench_cuda {

// The cores that this process may use.
inline std::vector<int> cores_of_process() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(static_cast<std::size_t>(i), &set)) found.push_back(i);
    }
    return found;
}

// Binds the calling thread, and the threads that it starts later, to these cores.
inline void stay_on(const std::vector<int>& cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
    static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

// Binds the calling thread while this object lives.
class restricted_to {
  public:
    explicit restricted_to(const std::vector<int>& cores) : before_(cores_of_process()) { stay_on(cores); }
    restricted_to(const restricted_to&) = delete;
    restricted_to& operator=(const restricted_to&) = delete;
    ~restricted_to() { stay_on(before_); }

  private:
    std::vector<int> before_;
};

// Keeps each core busy with a thread.
class other_work {
  public:
    explicit other_work(const std::vector<int>& cores) {
        for (const int core : cores) {
            threads_.emplace_back([this, core] {
                stay_on({core});
                for (std::size_t x = 0; !over_.load(std::memory_order_relaxed); ++x) bench::keep(x);
            });
        }
    }
    other_work(const other_work&) = delete;
    other_work& operator=(const other_work&) = delete;
    ~other_work() { over_.store(true, std::memory_order_relaxed); }

  private:
    std::atomic<bool> over_{false};
    std::vector<std::jthread> threads_;  // joined first
};

}  // namespace bench_cuda

#endif
