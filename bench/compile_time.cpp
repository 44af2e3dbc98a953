// What including the library costs: the compiler's processor time for tiny sources, which on a machine
// with nothing else to do is the time that passes; and as a part of what <thread> alone costs in the same run.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/harness.hpp"

// Set by the build file: the compiler and how it finds the library; and the peers, where installed.
#ifndef BENCH_COMPILE
#error "build this with CMake"
#endif

namespace {

struct unit {
    std::string name;
    std::string source;
    std::string flags = {};
};

constexpr const char* the_measure = "<thread>, unused";

std::vector<unit> units() {
    std::vector<unit> all = {
        {"nothing", ""},
        {the_measure, "#include <thread>\n"},
        {"the standard library's headers", R"(
#include <atomic>
#include <coroutine>
#include <string>
#include <thread>
#include <vector>
)"},
        {"weir.hpp, unused", "#include <weir/weir.hpp>\n"},
        {"pipeline.hpp, unused", "#include <weir/stages/pipeline.hpp>\n"},
        {"task.hpp, unused", "#include <weir/task/task.hpp>\n"},
        {"the first example", "#include \"" BENCH_FIRST_EXAMPLE "\"\n"},
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
        {"weir, a pipeline of three stages", R"(
#include <weir/stages/pipeline.hpp>
#include <weir/executor/thread_pool.hpp>
#include <ranges>
#include <vector>
int square(int x) { return x * x; }
int sum(std::vector<int> numbers) {
    int total = 0;
    for (const int n : numbers) total += n;
    return total;
}
int run() {
    auto pipeline = weir::source(std::views::iota(1, 101)) | weir::pipe(square, {.concurrency = 2}) |
                    weir::aggregate(4) | weir::pipe(sum) | weir::sink(3);
    weir::thread_pool pool(2);
    auto run = pipeline.start(pool);
    int total = 0;
    for (const int n : run) total += n;
    return total;
}
)"},
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
    all.push_back({"tbb, a pipeline of three stages", R"(
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
    std::string title;
    std::string optimise;
    bool is_measure;
    std::string command;
    std::vector<double> seconds = {};

    void time() {
        const double start = children_seconds();
        const bool compiled = std::system(command.c_str()) == 0;
        bench::check(compiled, command.c_str());
        seconds.push_back(children_seconds() - start);
    }
    double median() {
        std::sort(seconds.begin(), seconds.end());
        return seconds[seconds.size() / 2];
    }
};

std::vector<compilation> prepare(const bench::session& session, const folder& temporary) {
    std::vector<compilation> all;
    const std::vector<unit> sources = units();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::string file = temporary.file("unit_" + std::to_string(i) + ".cpp");
        std::ofstream(file) << sources[i].source;
        for (const char* const optimise : {"-O0", "-O2"}) {
            const std::string title = sources[i].name + ", " + optimise;
            const bool is_measure = sources[i].name == the_measure;
            if (!session.wants(title) && !is_measure) continue;
            all.push_back({title, optimise, is_measure,
                           std::string(BENCH_COMPILE) + " " + sources[i].flags + " " + optimise + " -c '" +
                               file + "' -o '" + temporary.file("unit.o") + "'"});
        }
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("compile_time", argc, argv);
    const folder temporary;
    std::vector<compilation> all = prepare(session, temporary);
    // In turns, as all contestants are. The first round fills the file cache.
    const int rounds = session.quick() ? 1 : 6;
    for (int round = 0; round < rounds; ++round) {
        for (compilation& c : all) {
            if (round == 1) c.seconds.clear();
            c.time();
        }
    }
    for (compilation& c : all) session.value(c.title, c.median() * 1e3, "ms");
    for (compilation& measure : all) {
        if (!measure.is_measure) continue;
        for (compilation& c : all) {
            if (c.optimise != measure.optimise) continue;
            session.value(c.title + ", of <thread>", c.median() / measure.median() * 100, "%");
        }
    }
}
