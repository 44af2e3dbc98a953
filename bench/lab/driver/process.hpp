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
    // Set on top of the caller's environment; an empty value takes the variable away.
    std::vector<std::pair<std::string, std::string>> environment;
    // Where its outputs go; empty: into files without a name, which the child can't replace, and then into the result.
    std::string stdout_file;
    std::string stderr_file;
    double limit_s = 0;                                // 0: none
    std::size_t most_output = 64 * 1024 * 1024;        // bytes of each of both files
    const volatile std::sig_atomic_t* stop = nullptr;  // not 0: the child is killed
};

enum class process_end { exited, signalled, timed_out, too_much_output, stopped, not_started };

struct process_result {
    process_end end = process_end::not_started;
    int code = 0;         // the exit status, or the signal's number
    std::string message;  // why it wasn't started
    std::string out;      // what it wrote, where no file was named
    std::string err;
    double started = 0;  // unix seconds
    double ended = 0;
    double duration_s = 0;  // by a clock that nobody sets
    // Of the child and of those it waited for (wait4), and of no other child of the caller.
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

// Runs it to its end, in a process group of its own, with /dev/null as standard input. At the limit and at a stop
// the group gets SIGTERM, and SIGKILL a second later; at too much output SIGKILL at once, and the file is cut; what
// is left of the group at the end SIGKILL. On Linux also what left the group. The group dies with its parent,
// however that ends. Output that is too much when it has ended counts like that. Throws std::system_error if an
// output file can't be opened.
process_result run_process(const process_options& options);

// "ok", "exit 3", "SIGSEGV", "timeout", "too much output", "stopped" or "not started".
std::string status_of(const process_result& run);
// "SIGSEGV".
std::string signal_name(int signal);

}  // namespace lab

#endif
