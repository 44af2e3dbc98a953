// tasks: properties that the system gives this process, which are set and read back.
#ifndef BENCH_TASKS_SURROUNDINGS_HPP
#define BENCH_TASKS_SURROUNDINGS_HPP

#include "settings.hpp"

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace tasks {

// Starts this program anew where addresses or the size of the environment can't be changed otherwise; then it
// doesn't return. Errors: refusal.
void start_anew_if_needed(const values& asked, char** argv);

// Of this process, before it has other threads. Errors: refusal.
void set_process(const values& asked);

// On which cores each worker may run.
class affinity {
  public:
    affinity(const values& asked, unsigned workers);

    // Called by each worker as it begins. Errors: refusal.
    void set(unsigned worker);

    // Of the workers, which all have begun.
    void tell(values& effective) const;
    // "0,1": of each worker the cores that it may run on, as 0-1 where those are several.
    std::string map_text() const;
    // How many different cores they have.
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

// What isn't of the workers' cores; of `thread`, one of them, what each thread has of its own.
void tell_surroundings(values& effective, pid_t thread);

// How many threads of this process have a name that begins so.
integer threads_named(const std::string& begin);

std::size_t bytes_of_environment();

}  // namespace tasks

#endif
