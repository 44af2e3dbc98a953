// lab driver: runs one child process without trusting it
#ifndef LAB_DRIVER_PROCESS_HPP
#define LAB_DRIVER_PROCESS_HPP

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lab {

struct process_options {
    std::vector<std::string> command;
    // Added to the caller's environment; an empty value removes the variable.
    std::vector<std::pair<std::string, std::string>> environment;
    // Files for its outputs; empty: files without a name, which the child can't replace, whose content goes
    // into the result.
    std::string stdout_file;
    std::string stderr_file;
    double limit_s = 0;                                // 0: none
    std::size_t most_output = 64 * 1024 * 1024;        // bytes of each of the two files
    const volatile std::sig_atomic_t* stop = nullptr;  // not 0: the child is killed
};

enum class process_end { exited, signalled, timed_out, too_much_output, stopped, not_started };

struct process_result {
    process_end end = process_end::not_started;
    int code = 0;         // the exit status, or the signal's number
    std::string message;  // the reason if it was not started
    std::string out;      // its output, if no file was named
    std::string err;
    double started = 0;  // unix seconds
    double ended = 0;
    double duration_s = 0;  // by the monotonic clock
    // Usage of the child and of the processes that it waited for (wait4), without other children of the caller.
    double user_s = 0;
    double system_s = 0;
    std::int64_t peak_kb = 0;
    std::int64_t minor_faults = 0;
    std::int64_t major_faults = 0;
    std::int64_t blocks_in = 0;
    std::int64_t blocks_out = 0;
    std::int64_t voluntary_switches = 0;
    std::int64_t involuntary_switches = 0;
};

// Runs the child to its end, in its own process group, with /dev/null as standard input. At the limit and at a
// stop the group gets SIGTERM, and SIGKILL a second later. At too much output it gets SIGKILL at once, and the
// file is cut; too much output at the end counts the same. At the end the rest of the group gets SIGKILL, on
// Linux also processes that left the group. The group ends with its parent, however that ends. Throws
// std::system_error if an output file can't be opened.
process_result run_process(const process_options& options);

// "ok", "exit 3", "SIGSEGV", "timeout", "too much output", "stopped" or "not started".
std::string status_of(const process_result& run);
// "SIGSEGV".
std::string signal_name(int signal);

}  // namespace lab

#endif
