// killed [TIMES]: a process that writes a report of each lap, and a line for each failure, into two files is
// killed (SIGKILL) at a random instant, a thousand times. Fails if a line but the last of a file is torn,
// or a report is missing that was written before.
#include <weir/executor/thread_pool.hpp>
#include <weir/report/log.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <optional>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace files = std::filesystem;

// How many reports the child has finished writing: what outlives it.
using counter = std::atomic<std::uint64_t>;
static_assert(counter::is_always_lock_free);

class shared_counter {
    counter* at_;

  public:
    shared_counter() {
        void* const page =
            mmap(nullptr, sizeof(counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) throw std::runtime_error("no shared memory to be had");
        at_ = new (page) counter(0);
    }
    shared_counter(const shared_counter&) = delete;
    shared_counter& operator=(const shared_counter&) = delete;
    ~shared_counter() { munmap(at_, sizeof(counter)); }
    counter& operator*() const noexcept { return *at_; }
};

weir::task<int> fails_at_times(int n) {
    if (n % 16 == 0) co_await weir::sleep_for(10us);
    if (n % 7 == 0)
        throw std::runtime_error("no good: " + std::string(static_cast<std::size_t>(n % 300), 'x'));
    co_return n;
}

// The child: never ends by itself.
[[noreturn]] void write_for_ever(const files::path& laps, const files::path& failures, counter& reports) {
    std::ofstream lap_file(laps);
    std::ofstream failure_file(failures);
    weir::thread_pool pool(2);
    weir::log_sink lap_log(lap_file);
    const weir::failure_log failure_log(failure_file, {.first = 1'000'000});
    auto pipeline = weir::source([n = 0]() mutable { return std::optional<int>(n++); }) |
                    weir::pipe(fails_at_times, {.name = "fails", .concurrency = 2}) | weir::aggregate(3) |
                    weir::sink(3);
    auto run = pipeline.start(pool, {.max_failures = weir::unlimited,
                                     .on_failure = failure_log,
                                     .lap = 500us,
                                     .on_lap = [&](const weir::pipeline_stats& lap) {
                                         lap_log(lap);
                                         reports.fetch_add(1);
                                     }});
    while (run.get()) {
    }
    std::abort();
}

std::string text_of(const files::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

struct reading {
    std::vector<std::string> lines;  // each that is complete
    bool torn = false;               // something is behind the last of them
};

reading read(const files::path& path) {
    const std::string text = text_of(path);
    reading all;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        all.lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    all.torn = begin != text.size();
    return all;
}

const std::string log_time = R"( *(\d+\.\d|-)( \[( us| ms|sec| ns)\])?)";

// A report: the stages and queues in their order, the source's and the sink's queues among them.
const std::vector<std::regex>& report_lines() {
    const auto stage = [](const std::string& name) {
        return std::regex("\\[" + name + R"(\]\tCompleted +\d+ tasks \( *\d+ failed\)\. Ave task time: )" +
                          log_time + R"(\. P90: )" + log_time + R"(\. P99: )" + log_time + R"(\.)");
    };
    const auto queue = [](const std::string& name) {
        return std::regex("\\[" + name + R"(_queue\]\tProcessed +\d+ items in )" + log_time +
                          R"( \(QPS: +\d+\.\d\) Ave wait time: put: )" + log_time +
                          R"(, get \(by next stage\): )" + log_time + R"(\. P90: put: )" + log_time +
                          R"(, get: )" + log_time + R"(\. P99: put: )" + log_time + R"(, get: )" + log_time +
                          R"(\. Occupancy rate: \d{1,3}%)");
    };
    static const std::vector<std::regex> all = {
        queue("src"),
        stage("fails\\[2\\]"),
        queue("fails"),
        stage("aggregate#2"),
        queue("aggregate#2"),
        queue("sink"),
        std::regex(R"(\[process\]\t\d+\.\d of \d+ processors busy, \d+\.\d in the system; .* resident; )"
                   R"(.* context switches, .* of them forced; (.* page faults from storage; )?)"
                   R"(read .*, written \d.*)")};
    return all;
}

// Of the lap in which the first item came: one more.
bool is_first_item(const std::string& line) {
    static const std::regex all(R"(\[pipeline\]\tfirst item after .* since, .* in all)");
    return std::regex_match(line, all);
}

// Lines that are no part of a report, or of the next one.
std::size_t wrong_reports(const reading& laps) {
    std::size_t wrong = 0;
    std::size_t i = 0;
    for (const std::string& line : laps.lines) {
        if (is_first_item(line)) continue;
        if (!std::regex_match(line, report_lines()[i++ % report_lines().size()])) {
            if (++wrong == 1) std::cout << "no part of a report: " << line << '\n';
        }
    }
    return wrong;
}

std::size_t wrong_failures(const reading& failures) {
    std::size_t wrong = 0;
    for (const std::string& line : failures.lines) {
        const std::string head = "[fails] item ";
        std::size_t digits = 0;
        bool right = line.starts_with(head);
        if (right) {
            const std::string rest = line.substr(head.size());
            const std::uint64_t n = std::stoull("0" + rest, &digits);
            right =
                n % 7 == 0 && rest.substr(digits - 1) ==
                                  " failed: no good: " + std::string(static_cast<std::size_t>(n % 300), 'x');
        }
        if (!right && ++wrong == 1) std::cout << "no failure: " << line << '\n';
    }
    return wrong;
}

struct tally {
    std::size_t wrong = 0;
    std::size_t lost = 0;
    std::size_t torn = 0;
    std::size_t reports = 0;
    std::size_t failures = 0;
};

void kill_once(const files::path& folder, std::chrono::microseconds after, tally& all) {
    const files::path laps = folder / "laps";
    const files::path failures = folder / "failures";
    const shared_counter reports;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process to be had");
    if (child == 0) write_for_ever(laps, failures, *reports);
    std::this_thread::sleep_for(after);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        throw std::runtime_error("the process ended before it was killed");
    }
    const reading lap_lines = read(laps);
    const reading failure_lines = read(failures);
    const auto more = std::count_if(lap_lines.lines.begin(), lap_lines.lines.end(), is_first_item);
    const std::uint64_t whole =
        (lap_lines.lines.size() - static_cast<std::size_t>(more)) / report_lines().size();
    all.wrong += wrong_reports(lap_lines) + wrong_failures(failure_lines);
    all.lost += whole < *reports ? 1U : 0U;
    all.torn += (lap_lines.torn ? 1U : 0U) + (failure_lines.torn ? 1U : 0U);
    all.reports += whole;
    all.failures += failure_lines.lines.size();
    files::remove(laps);
    files::remove(failures);
}

// Removed with what is in it.
class temporary_folder {
    files::path path_;

  public:
    temporary_folder() {
        std::string name = (files::temp_directory_path() / "weir_killed_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder to be had");
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        files::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    const files::path& path() const noexcept { return path_; }
};

}  // namespace

int main(int argc, char** argv) try {
    const int times = argc > 1 ? std::stoi(argv[1]) : 1000;
    const temporary_folder folder;
    std::mt19937_64 random(1);
    tally all;
    for (int i = 0; i < times; ++i) {
        kill_once(folder.path(), std::chrono::microseconds(random() % 30'000), all);
    }
    std::cout << "killed " << times << " times: " << all.reports << " reports and " << all.failures
              << " failures were complete, " << all.wrong << " lines wrong, " << all.lost
              << " times a report lost, " << all.torn << " files with a torn end\n";
    return all.wrong == 0 && all.lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
