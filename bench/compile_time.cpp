// The compile time of weir: processor time of the compiler for small programs, for <thread>, and for the same three stages in
// oneTBB and Taskflow, all in turns, with each installed compiler; then the ratios, beside their goals.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/harness.hpp"

// Set by the build file: the compilers and their flags, and installed peers.
#ifndef BENCH_COMPILERS
#error "build this with CMake"
#endif

namespace {

struct unit {
    std::string name;
    std::string source;
    std::string flags = {};
};

const std::string measure = "<thread>, unused";
const std::string umbrella = "weir.hpp, unused";
const std::string tasks = "task.hpp, unused";
const std::string example = "the first example";
const std::string separate = "the first example, separate compilation";
const std::string stages = "weir, a pipeline of three stages";
const std::string one_more = "weir, a pipeline of four stages";
const std::string taskflow = "taskflow, a pipeline of three stages";
const std::string tbb = "tbb, a pipeline of three stages";

std::string pipeline_of(const std::string& more) {
    return R"(
#include <weir/stages/pipeline.hpp>
#include <weir/executor/thread_pool.hpp>
#include <ranges>
#include <vector>
int square(int x) { return x * x; }
double half(int x) { return x * 0.5; }
int sum(std::vector<int> numbers) {
    int total = 0;
    for (const int n : numbers) total += n;
    return total;
}
double run() {
    auto pipeline = weir::source(std::views::iota(1, 101)) | weir::pipe(square, {.concurrency = 2}) |
                    weir::aggregate(4) | weir::pipe(sum) | )" +
           more + R"(weir::sink(3);
    weir::thread_pool pool(2);
    auto run = pipeline.start(pool);
    double total = 0;
    for (const auto n : run) total += n;
    return total;
}
)";
}

std::vector<unit> units() {
    std::vector<unit> all = {
        {"nothing", ""},
        {measure, "#include <thread>\n"},
        {umbrella, "#include <weir/weir.hpp>\n"},
        {"pipeline.hpp, unused", "#include <weir/stages/pipeline.hpp>\n"},
        {tasks, "#include <weir/task/task.hpp>\n"},
        {example, "#include \"" BENCH_FIRST_EXAMPLE "\"\n"},
        {separate, "#include \"" BENCH_FIRST_EXAMPLE "\"\n", "-DWEIR_SEPARATE_COMPILATION"},
        {"weir/src.hpp, once for a program", "#include <weir/src.hpp>\n", "-DWEIR_SEPARATE_COMPILATION"},
        {"weir, a channel and two coroutines", R"(
#include <weir/channel/channel.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>
weir::task<> produce(weir::channel<int>& out, int items) {
    for (int i = 0; i < items; ++i) {
        const bool taken = co_await out.put(i);
        if (!taken) break;
    }
    out.close();
}
weir::task<int> consume(weir::channel<int>& in) {
    int sum = 0;
    while (auto item = co_await in.get()) sum += *item;
    co_return sum;
}
weir::task<int> both(weir::channel<int>& items) {
    auto results = co_await weir::when_all(produce(items, 5), consume(items));
    co_return std::get<1>(results);
}
int run() {
    weir::channel<int> items(2);
    return weir::sync_wait(both(items));
}
)"},
        {stages, pipeline_of("")},
        {one_more, pipeline_of("weir::pipe(half) | ")},
    };
#ifdef BENCH_ASIO_FLAGS
    all.push_back({"asio.hpp, a channel and two coroutines", R"(
#include <asio.hpp>
#include <asio/experimental/channel.hpp>
using channel = asio::experimental::channel<void(asio::error_code, int)>;
asio::awaitable<void> produce(channel& out, int items) {
    for (int i = 0; i < items; ++i) {
        co_await out.async_send(asio::error_code(), i, asio::use_awaitable);
    }
}
asio::awaitable<void> consume(channel& in, int items, int& sum) {
    for (int i = 0; i < items; ++i) sum += co_await in.async_receive(asio::use_awaitable);
}
int run() {
    asio::io_context context;
    channel items(context, 2);
    int sum = 0;
    asio::co_spawn(context, produce(items, 5), asio::detached);
    asio::co_spawn(context, consume(items, 5, sum), asio::detached);
    context.run();
    return sum;
}
)",
                   BENCH_ASIO_FLAGS});
#else
    std::cerr << "asio is left out: it is not installed\n";
#endif
#ifdef BENCH_TBB_FLAGS
    all.push_back({tbb, R"(
#include <tbb/parallel_pipeline.h>
int run() {
    int next = 0;
    int total = 0;
    const auto source = [&](tbb::flow_control& control) {
        if (next == 100) control.stop();
        return ++next;
    };
    tbb::parallel_pipeline(
        4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, source) &
               tbb::make_filter<int, int>(tbb::filter_mode::parallel, [](int x) { return x * x; }) &
               tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
                                           [&](int x) { total += x; }));
    return total;
}
)",
                   BENCH_TBB_FLAGS});
#else
    std::cerr << "tbb is left out: it is not installed\n";
#endif
#ifdef BENCH_TASKFLOW_FLAGS
    all.push_back({taskflow, R"(
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>
#include <array>
int run() {
    int total = 0;
    std::array<int, 4> of_line{};
    tf::Pipeline pipeline(of_line.size(),
                          tf::Pipe{tf::PipeType::SERIAL,
                                   [&](tf::Pipeflow& flow) {
                                       if (flow.token() == 100) return flow.stop();
                                       of_line[flow.line()] = static_cast<int>(flow.token());
                                   }},
                          tf::Pipe{tf::PipeType::PARALLEL,
                                   [&](tf::Pipeflow& flow) {
                                       of_line[flow.line()] *= of_line[flow.line()];
                                   }},
                          tf::Pipe{tf::PipeType::SERIAL,
                                   [&](tf::Pipeflow& flow) { total += of_line[flow.line()]; }});
    tf::Taskflow graph;
    graph.composed_of(pipeline);
    tf::Executor executor(2);
    executor.run(graph).wait();
    return total;
}
)",
                   BENCH_TASKFLOW_FLAGS});
#else
    std::cerr << "taskflow is left out: BENCH_PEERS has no folder with it\n";
#endif
    return all;
}

class folder {
  public:
    folder()
        : path_(std::filesystem::temp_directory_path() / ("weir_compile_time_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;

    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

double children_seconds() {
    rusage use{};
    getrusage(RUSAGE_CHILDREN, &use);
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

struct compilation {
    std::string compiler;
    std::string optimise;
    std::string name;
    std::string command;
    std::vector<double> seconds = {};

    std::string title() const { return compiler + " " + optimise + ", " + name; }
    void time() {
        const double start = children_seconds();
        const bool compiled = std::system(command.c_str()) == 0;
        bench::check(compiled, command.c_str());
        seconds.push_back(children_seconds() - start);
    }
    double median() const {
        std::vector<double> sorted = seconds;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

// The name of a compiler, as "g++"; other members of BENCH_COMPILERS are its path and flags.
struct compiler {
    const char* name;
    const char* command;
};
constexpr compiler compilers[] = {BENCH_COMPILERS};

std::vector<compilation> prepare(const bench::session& session, const folder& temporary) {
    std::vector<compilation> all;
    const std::vector<unit> sources = units();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::string file = temporary.file("unit_" + std::to_string(i) + ".cpp");
        std::ofstream(file) << sources[i].source;
        for (const compiler& by : compilers) {
            for (const char* const optimise : {"-O0", "-O2"}) {
                compilation c{by.name, optimise, sources[i].name,
                              std::string(by.command) + " " + sources[i].flags + " " + optimise + " -c '" +
                                  file + "' -o '" + temporary.file("unit.o") + "'"};
                if (session.wants(c.title())) all.push_back(c);
            }
        }
    }
    return all;
}

// A row of the table: the time of one program, divided by or minus that of another one, and its goal.
struct goal {
    std::string what;
    std::string in_short;  // name of its result, with this compiler at -O2
    std::string name;
    std::string other;
    bool is_ratio;
    double at_O0;  // 0: no goal
    double at_O2;
};

const std::vector<goal> goals = {
    {"the first example, of oneTBB's three stages", "first_example_to_tbb_ratio", example, tbb, true, 2.0,
     3.0},
    {"the first example, of Taskflow's three stages", "first_example_to_taskflow_ratio", example, taskflow,
     true, 1.15, 1.5},
    {"the same, separate compilation", "separate_example_to_taskflow_ratio", separate, taskflow, true, 0.7,
     0.7},
    {"weir.hpp, of <thread>", "umbrella_to_thread_ratio", umbrella, measure, true, 3.5, 3.5},
    {"task.hpp, of <thread>", "task_to_thread_ratio", tasks, measure, true, 1.05, 1.05},
    {"another function stage, seconds", "another_stage_s", one_more, stages, false, 0, 0.25},
};

double median_of(const std::vector<compilation>& all, const compiler& by, const std::string& optimise,
                 const std::string& name) {
    for (const compilation& c : all) {
        if (c.compiler == by.name && c.optimise == optimise && c.name == name) return c.median();
    }
    return 0;
}

void compare(bench::session& session, const std::vector<compilation>& all) {
    for (const goal& g : goals) {
        for (const compiler& by : compilers) {
            for (const std::string optimise : {"-O0", "-O2"}) {
                const double time = median_of(all, by, optimise, g.name);
                const double other = median_of(all, by, optimise, g.other);
                if (time == 0 || other == 0) continue;
                const double most = optimise == "-O0" ? g.at_O0 : g.at_O2;
                char unit[32] = "";
                if (most != 0) std::snprintf(unit, sizeof unit, "(goal: %.2f)", most);
                const double amount = g.is_ratio ? time / other : time - other;
                session.value(std::string(by.name) + " " + optimise + ", " + g.what, amount, unit);
                if (&by == &compilers[0] && optimise == "-O2") session.result(g.in_short, amount);
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("compile_time", argc, argv);
    const folder temporary;
    std::vector<compilation> all = prepare(session, temporary);
    // In turns, like all contestants. The first round fills the file cache.
    const int rounds = session.quick() ? 1 : 6;
    for (int round = 0; round < rounds; ++round) {
        for (compilation& c : all) {
            if (round == 1) c.seconds.clear();
            c.time();
        }
    }
    for (const compilation& c : all) session.value(c.title(), c.median() * 1e3, "ms");
    compare(session, all);
    for (const auto& [key, optimise] :
         {std::pair{"first_example_o0_s", "-O0"}, {"first_example_o2_s", "-O2"}}) {
        const double seconds = median_of(all, compilers[0], optimise, example);
        if (seconds != 0) session.result(key, seconds);
    }
}
