// signals [MILLISECONDS]: a process at work on a pipeline with laps is stopped (SIGSTOP) for two seconds and
// continued, from outside. Fails unless it goes on, its items are right and in order, the times of each
// lap add up, and one lap says that it was as long as the stop.
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include "support/flows.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using number = std::uint64_t;
using namespace std::chrono_literals;

// Both ends of a pipe, through which one process tells another plain values.
class line {
    int ends_[2];

  public:
    line() {
        if (pipe(ends_) != 0) throw std::runtime_error("no pipe to be had");
    }
    template <class T>
    void tell(const T& value) {
        if (write(ends_[1], &value, sizeof(value)) != sizeof(value)) {
            throw std::runtime_error("the other process has gone");
        }
    }
    template <class T>
    T hear() {
        T value;
        if (read(ends_[0], &value, sizeof(value)) != sizeof(value)) {
            throw std::runtime_error("the other process has gone");
        }
        return value;
    }
    // So that `hear` fails where the other process has ended.
    void only_hear() { close(ends_[1]); }
};

struct report {
    number items = 0;
    number wrong = 0;  // items that are not the next
    number laps = 0;
    number wrong_laps = 0;  // whose times don't add up
    std::int64_t longest_lap = 0;
    bool whole_adds_up = false;
};

number twice(number n) { return 2 * n; }
weir::task<number> half(number n) {
    if (n % 64 == 0) co_await weir::sleep_for(20us);
    co_return n / 2;
}

// The child: works until it is told to end.
void work(line& from_parent, line& to_parent) {
    std::atomic<bool> over = false;
    report told;
    {
        weir::thread_pool pool(2);
        auto pipeline = weir::source([&over, n = number{0}]() mutable {
                            return over ? std::nullopt : std::optional<number>(n++);
                        }) |
                        weir::pipe(twice) |
                        weir::pipe(half, {.concurrency = 4, .output_order = weir::output_order::input}) |
                        weir::sink(8);
        auto run = pipeline.start(pool, {.lap = 20ms, .on_lap = [&told](const weir::pipeline_stats& lap) {
                                             ++told.laps;
                                             if (!flows::add_up(lap)) ++told.wrong_laps;
                                             told.longest_lap = std::max<std::int64_t>(told.longest_lap,
                                                                                       lap.elapsed.count());
                                         }});
        std::thread control([&] {
            static_cast<void>(from_parent.hear<char>());
            over = true;
        });
        bool begun = false;
        for (const number n : run) {
            if (n != told.items) ++told.wrong;
            ++told.items;
            if (!begun && told.items == 1000) {
                begun = true;
                to_parent.tell('b');
            }
        }
        control.join();
        told.whole_adds_up = flows::add_up(run.stats());
    }
    to_parent.tell(told);
}

bool is_stopped_for(std::chrono::milliseconds time) {
    line to_child;
    line from_child;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process to be had");
    if (child == 0) {
        work(to_child, from_child);
        _exit(EXIT_SUCCESS);
    }
    from_child.only_hear();
    static_cast<void>(from_child.hear<char>());
    int status = 0;
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    const bool stopped = WIFSTOPPED(status);
    const auto since = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(time);
    const auto stood = std::chrono::steady_clock::now() - since;
    kill(child, SIGCONT);
    // Long enough for the lap at hand to end.
    std::this_thread::sleep_for(100ms);
    to_child.tell('e');
    const auto told = from_child.hear<report>();
    waitpid(child, &status, 0);

    const bool right = stopped && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS &&
                       told.wrong == 0 && told.items >= 1000 && told.wrong_laps == 0 && told.whole_adds_up;
    const bool said = std::chrono::nanoseconds(told.longest_lap) >= stood;
    std::cout << "stopped for " << std::chrono::duration<double>(stood).count()
              << " s: " << (right ? "right" : "WRONG") << ", " << told.items << " items, " << told.wrong
              << " out of order, " << told.laps << " laps, " << told.wrong_laps
              << " of them don't add up, the longest " << static_cast<double>(told.longest_lap) * 1e-9 << " s"
              << (said ? "" : ": SHORTER than the stop") << '\n';
    return right && said;
}

}  // namespace

int main(int argc, char** argv) try {
    const int milliseconds = argc > 1 ? std::stoi(argv[1]) : 2000;
    return is_stopped_for(std::chrono::milliseconds(milliseconds)) ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
