// lab driver: fork, exec, wait4, and killing a process group
#include "lab/driver/process.hpp"

#include "lab/driver/descendants.hpp"
#include "lab/driver/guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace lab {

namespace {

using clock = std::chrono::steady_clock;

double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

class file {
  public:
    file(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
        if (number_ < 0) throw std::system_error(errno, std::generic_category(), path);
    }
    explicit file(int number) : number_(number) {}
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() {
        if (number_ >= 0) ::close(number_);
    }
    // A file whose name is removed at once; writes go to its end.
    static int nameless() {
        const char* folder = std::getenv("TMPDIR");
        std::string path =
            std::string(folder != nullptr && *folder != 0 ? folder : "/tmp") + "/weir-output-XXXXXX";
        const int number = ::mkostemp(path.data(), O_APPEND | O_CLOEXEC);
        if (number < 0) throw std::system_error(errno, std::generic_category(), path);
        ::unlink(path.c_str());
        return number;
    }
    static int output(const std::string& path) {
        if (path.empty()) return nameless();
        const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
        if (number < 0) throw std::system_error(errno, std::generic_category(), path);
        return number;
    }
    [[nodiscard]] std::string text() const {
        std::string all(size(), '\0');
        std::size_t read = 0;
        while (read < all.size()) {
            const ssize_t more =
                ::pread(number_, all.data() + read, all.size() - read, static_cast<off_t>(read));
            if (more <= 0) break;
            read += static_cast<std::size_t>(more);
        }
        all.resize(read);
        return all;
    }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] std::size_t size() const {
        struct stat about{};
        return ::fstat(number_, &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
    }

  private:
    int number_;
};

struct child_files {
    int in;
    int out;
    int err;
    int failure;  // closed by exec; otherwise the error number is written there
};

// Runs in the child, and must not allocate.
[[noreturn]] void become(char* const* command, char** environment, pid_t parent, const child_files& files) {
    ::setpgid(0, 0);
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
#else
    static_cast<void>(parent);
#endif
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);
    ::dup2(files.in, 0);
    ::dup2(files.out, 1);
    ::dup2(files.err, 2);
    environ = environment;
    ::execvp(command[0], command);
    const int error = errno;
    static_cast<void>(::write(files.failure, &error, sizeof error) == 0);
    ::_exit(127);
}

std::vector<std::string> environment_of(const process_options& options) {
    std::vector<std::string> result;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        bool changed = false;
        for (const auto& [name, value] : options.environment)
            changed = changed || text.starts_with(name + "=");
        if (!changed) result.push_back(text);
    }
    for (const auto& [name, value] : options.environment)
        if (!value.empty()) result.push_back(name + "=" + value);
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// Waits up to `time` for the end of the child; returns whether it has ended. It stays a zombie.
class end_watcher {
  public:
    explicit end_watcher(pid_t child) : child_(child), handle_(open_handle(child)) {}
    bool ended_within(clock::duration time) {
        const auto until = clock::now() + time;
        for (;;) {
            siginfo_t about{};
            if (::waitid(P_PID, static_cast<id_t>(child_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                about.si_pid == child_)
                return true;
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
            if (left <= 0) return false;
            if (handle_.number() >= 0) {
                pollfd one{handle_.number(), POLLIN, 0};
                ::poll(&one, 1, static_cast<int>(left));
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        }
    }

  private:
    static int open_handle([[maybe_unused]] pid_t child) {
#if defined(SYS_pidfd_open)
        return static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
#else
        return -1;
#endif
    }
    pid_t child_;
    file handle_;
};

void set_usage(process_result& result, const rusage& usage) {
    result.user_s = seconds(usage.ru_utime);
    result.system_s = seconds(usage.ru_stime);
    result.peak_kb = usage.ru_maxrss;
    result.minor_faults = usage.ru_minflt;
    result.major_faults = usage.ru_majflt;
    result.blocks_in = usage.ru_inblock;
    result.blocks_out = usage.ru_oublock;
    result.voluntary_switches = usage.ru_nvcsw;
    result.involuntary_switches = usage.ru_nivcsw;
}

}  // namespace

process_result run_process(const process_options& options) {
    process_result result;
    const file in("/dev/null", O_RDONLY);
    const file out(file::output(options.stdout_file));
    const file err(file::output(options.stderr_file));
    if (options.command.empty() || options.command.front().empty()) {
        result.message = "there is no command";
        return result;
    }
    std::vector<std::string> words = options.command;
    std::vector<std::string> variables = environment_of(options);
    const std::vector<char*> command = pointers(words);
    std::vector<char*> environment = pointers(variables);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const file failure_in(ends[0]);
    const pid_t parent = ::getpid();
    const descendants others;
    pid_t child = 0;
    {
        const file failure_out(ends[1]);
        result.started = unix_now();
        child = ::fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0)
            become(command.data(), environment.data(), parent,
                   {in.number(), out.number(), err.number(), failure_out.number()});
    }
    const auto begin = clock::now();
    ::setpgid(child, child);  // the child does the same; either may be first
    int error = 0;
    const bool failed = ::read(failure_in.number(), &error, sizeof error) == sizeof error;
    std::optional<guard> last_resort(child);

    process_end why = process_end::exited;
    end_watcher watcher(child);
    while (!watcher.ended_within(std::chrono::milliseconds(50))) {
        const double running = std::chrono::duration<double>(clock::now() - begin).count();
        if (options.stop != nullptr && *options.stop != 0) {
            why = process_end::stopped;
        } else if (options.limit_s > 0 && running >= options.limit_s) {
            why = process_end::timed_out;
        } else if (out.size() > options.most_output || err.size() > options.most_output) {
            why = process_end::too_much_output;
        } else {
            continue;
        }
        // After too much output it would continue to write for a second.
        ::kill(-child, why == process_end::too_much_output ? SIGKILL : SIGTERM);
        if (!watcher.ended_within(std::chrono::seconds(1))) ::kill(-child, SIGKILL);
        watcher.ended_within(std::chrono::hours(24));
        break;
    }
    result.duration_s = std::chrono::duration<double>(clock::now() - begin).count();
    result.ended = unix_now();
    ::kill(-child, SIGKILL);  // while the child is a zombie, the number of its group can't be reused
    last_resort.reset();
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    static_cast<void>(others.end_all_but_these());  // also processes that left the group
    for (const file* output : {&out, &err}) {       // no process writes any more
        if (output->size() <= options.most_output) continue;
        if (why == process_end::exited) why = process_end::too_much_output;
        if (::ftruncate(output->number(), static_cast<off_t>(options.most_output)) != 0)
            result.message = "its output can't be cut";
    }
    if (options.stdout_file.empty()) result.out = out.text();
    if (options.stderr_file.empty()) result.err = err.text();
    set_usage(result, usage);
    if (failed) {
        result.message = options.command.front() + ": " + std::generic_category().message(error);
        return result;
    }
    result.end = why != process_end::exited ? why
                 : WIFSIGNALED(status)      ? process_end::signalled
                                            : process_end::exited;
    result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return result;
}

std::string status_of(const process_result& run) {
    switch (run.end) {
        case process_end::exited:
            return run.code == 0 ? "ok" : "exit " + std::to_string(run.code);
        case process_end::signalled:
            return signal_name(run.code);
        case process_end::timed_out:
            return "timeout";
        case process_end::too_much_output:
            return "too much output";
        case process_end::stopped:
            return "stopped";
        case process_end::not_started:
            return "not started";
    }
    return "";
}

std::string signal_name(int signal) {
    static const std::pair<int, const char*> names[]{
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
        {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (const auto& [number, name] : names)
        if (number == signal) return name;
    return "signal " + std::to_string(signal);
}

}  // namespace lab
