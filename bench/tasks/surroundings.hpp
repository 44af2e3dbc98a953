// tasks: properties that the system gives this process, which are set and read back.
#ifndef BENCH_TASKS_SURROUNDINGS_HPP
#define BENCH_TASKS_SURROUNDINGS_HPP

#include "settings.hpp"

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace tasks {

// Restarts this program if addresses, or the size of the environment, can't be changed otherwise; then it does
// not return. Errors: refusal.
void start_anew_if_needed(const values& asked, char** argv);

// Sets the properties of this process, before it has other threads. Errors: refusal.
void set_process(const values& asked);

// The cores on which each worker may run.
class affinity {
  public:
    affinity(const values& asked, unsigned workers);

    // Called by each worker as it begins. Errors: refusal.
    void set(unsigned worker);

    // The properties of the workers, all of which have begun.
    void tell(values& effective) const;
    // "0,1": the cores on which each worker may run, as 0-1 if these are several.
    std::string map_text() const;
    // The number of different cores of the workers.
    unsigned cores() const;
    const std::vector<pid_t>& threads() const { return threads_; }

  private:
    cpu_set_t wanted(const std::string& level, unsigned worker) const;
    bool is(const std::string& level) const;

    std::string level_;
    unsigned workers_;
    cpu_set_t before_;
    std::vector<int> allowed_;
    std::vector<pid_t> threads_;
};

// Properties other than the workers' cores. Those of a thread are read from `thread`, one of the workers.
void tell_surroundings(values& effective, pid_t thread);

// The number of threads of this process whose names begin with this text.
integer threads_named(const std::string& begin);

std::size_t bytes_of_environment();

}  // namespace tasks

#endif
