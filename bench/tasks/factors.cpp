#include "factors.hpp"

#include "build.hpp"

#include <weir/platform/system_thread.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

#include <algorithm>
#include <sstream>

namespace tasks {
namespace {

factor levels(std::string name, std::vector<std::string> all, std::string about) {
    factor f;
    f.name = std::move(name);
    for (std::string& each : all) f.levels.push_back({std::move(each), {}});
    f.about = std::move(about);
    return f;
}

factor range(std::string name, integer low, integer high, integer base, std::string about) {
    factor f;
    f.name = std::move(name);
    f.low = low;
    f.high = high;
    f.base = base;
    f.about = std::move(about);
    return f;
}

factor log_range(std::string name, integer low, integer high, integer base, std::string about) {
    factor f = range(std::move(name), low, high, base, std::move(about));
    f.logarithmic = true;
    return f;
}

factor built(std::string name, std::vector<choice> all, std::string about) {
    factor f;
    f.name = std::move(name);
    f.levels = std::move(all);
    f.about = std::move(about);
    f.how = applied::by_flags;
    f.tier = 2;
    return f;
}

// Factors of the library.
void add_cfg(std::vector<factor>& all) {
    factor stats = levels("cfg_stats", {"histograms", "summed", "off"},
                          "what a run measures: all, all but quantiles, or only how many items passed");
    stats.tier = 3;
    stats.removes_feature = true;
    all.push_back(stats);
    all.push_back(levels(
        "cfg_clock", {"ticks", "ticks_around", "steady", "coarse"},
        "by which clock a run is measured: the pool's, which is the processor's counter; the same by "
        "an executor around the pool, which the others need, too; CLOCK_MONOTONIC; or its coarse kind"));
    all.push_back(levels("cfg_item_log", {"off", "ring", "stderr", "file", "tmpfs"},
                         "a line of text for each item: none, into memory, or to where it says"));
    all.push_back(levels("cfg_log_flush", {"block", "line"},
                         "when those lines are written: in blocks, or each at once"));
    const auto capacity = static_cast<integer>(weir::source_options().capacity);
    all.push_back(
        log_range("cfg_qcap", 1, 4096, capacity,
                  "items that each queue has room for, but the sink's; of batches as many as make so "
                  "many items"));
    all.push_back(log_range("cfg_sink", 1, 4096, static_cast<integer>(weir::detail::usual_in_sink<integer>),
                            "items that the sink's queue has room for; the base is that of small values, as "
                            "these are without app_size"));
    const auto cores = static_cast<integer>(weir::detail::standard_platform::concurrency());
    all.push_back(range("cfg_workers", 1, 2 * cores, cores, "threads of the pool"));
    all.push_back(log_range("cfg_batch", 1, 256, 1,
                            "items that the stages take at once: an aggregate before them and a disaggregate "
                            "behind them; 1: neither"));
    all.push_back(
        levels("cfg_handoff", {"slot", "later_first"},
               "which of several ready stages a worker runs: the one woken last, in its next-to-run "
               "slot, or the one nearest to the end (run_options::later_stages_first)"));
    all.push_back(
        levels("cfg_fuse", {"off", "on"}, "all stages' work in one function, or each in a stage of its own"));
    all.push_back(
        levels("cfg_order", {"completion", "input"}, "in which order items leave a stage of several slots"));
    all.push_back(log_range("cfg_slots", 1, 64, static_cast<integer>(weir::stage_options().concurrency),
                            "items that each stage works on at the same time"));
}

// Factors of the process's surroundings.
void add_env(std::vector<factor>& all) {
    all.push_back(
        levels("env_affinity", {"none", "compact", "spread", "reverse", "single"},
               "on which cores the workers may run: any, one each from the first on, one each as far "
               "apart as there are cores, one each from the last on, or all on the first"));
    all.push_back(levels("env_sched", {"other", "batch", "fifo"}, "the scheduling policy of the process"));
    all.push_back(range("env_nice", -20, 19, 0, "the niceness of the process"));
    factor malloc = levels("env_malloc", {}, "the memory allocator, as /proc/self/maps has it");
    malloc.levels = {{"glibc", ""},
                     {"jemalloc", "libjemalloc.so.2"},
                     {"mimalloc", "libmimalloc.so.2"},
                     {"tcmalloc", "libtcmalloc_minimal.so.4"}};
    malloc.how = applied::by_preload;
    all.push_back(malloc);
    all.push_back(
        levels("env_thp", {"on", "off"}, "whether the process may have transparent huge pages (prctl)"));
    all.push_back(levels("env_aslr", {"on", "off"},
                         "whether addresses are random, a nuisance: the program starts itself anew without"));
    all.push_back(
        range("env_pad", 0, 4096, 0,
              "bytes by which the environment is longer, a nuisance: the program starts itself anew "
              "with a variable of that size"));
}

void add_bld(std::vector<factor>& all) {
    all.push_back(
        built("bld_opt", {{"O3", "-O3"}, {"O2", "-O2"}, {"Os", "-Os"}}, "what the compiler optimises for"));
    all.push_back(
        built("bld_lto", {{"off", ""}, {"on", "-flto"}}, "optimisation when the program is linked"));
    all.push_back(built("bld_march",
                        {{"generic", ""},
                         {"x86-64-v2", "-march=x86-64-v2"},
                         {"x86-64-v3", "-march=x86-64-v3"},
                         {"native", "-march=native"}},
                        "which processors it is for"));
    all.push_back(built("bld_ndebug", {{"on", ""}, {"off", "-UNDEBUG"}}, "whether assertions are left out"));
    all.push_back(built("bld_linker", {{"default", ""}, {"gold", "-fuse-ld=gold"}, {"lld", "-fuse-ld=lld"}},
                        "which program puts it together"));
    all.push_back(built("bld_pgo", {{"off", ""}, {"on", "-fprofile-use"}},
                        "whether it is compiled anew with a profile of what it did"));
    std::vector<choice> compilers{{build_of_this().compiler, ""}};
    for (const choice& other : {choice{"g++12", "CXX=g++-12"}, choice{"clang16", "CXX=clang++-16"},
                                choice{"clang19", "CXX=clang++-19"}})
        if (other.level != compilers[0].level) compilers.push_back(other);
    all.push_back(built("bld_cc", compilers, "the compiler; the one of this program is the base"));
}

// Factors of the workload, which are no treatments.
void add_app(std::vector<factor>& all) {
    all.push_back(
        levels("app_shape", {"pipeline", "executor"},
               "items through a pipeline, or tasks on the executor alone, each with all stages' work"));
    all.push_back(
        levels("app_work", {"noop", "cpu", "sleep", "memory", "io", "chain"},
               "what each stage does with an item: nothing, computes for app_work_ns, sleeps for so long, "
               "reads and writes app_work_bytes of memory, writes so many to a file and reads them "
               "back, or computes for app_work_ns after the item before it has"));
    all.push_back(
        range("app_work_ns", 0, 10'000'000, 1'000, "of cpu, sleep and chain: nanoseconds in each stage"));
    all.push_back(range("app_work_bytes", 1, 1'048'576, 4'096, "of memory and io: bytes in each stage"));
    all.push_back(log_range("app_items", 1, 1'000'000'000, 100'000, "items of the measured batch"));
    all.push_back(range("app_size", 0, 65'536, 0, "bytes that each item carries, in memory of its own"));
    all.push_back(range("app_stages", 1, 8, 3, "stages between source and sink"));
    all.push_back(levels("app_consumer", {"thread", "coroutine", "for_each"},
                         "who takes the items: the main thread, a coroutine on the pool, or a stage"));
    all.push_back(
        log_range("app_wave", 1, 65'536, 1'024, "of the executor alone: tasks that are waited for at once"));
    all.push_back(levels("app_reports", {"off", "csv", "trace"},
                         "a report of each run: none, its laps as CSV, or the way of each item"));
    all.push_back(
        levels("app_latency", {"off", "on"},
               "whether each item's time from its making to its end is taken, which costs two readings "
               "of the clock"));
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

template <class All, class Text>
std::string list_of(const All& all, const Text& text) {
    std::string out;
    for (const auto& each : all) {
        if (!out.empty()) out += ',';
        out += text(each);
    }
    return out;
}

std::string map_of_levels(const factor& f) {
    return list_of(f.levels,
                   [](const choice& c) { return quoted(c.level).append(":").append(quoted(c.with)); });
}

std::string application(const factor& f) {
    std::ostringstream out;
    if (f.how == applied::by_preload) {
        out << R"({"environment":{"LD_PRELOAD":{)" << map_of_levels(f) << "}}}";
    } else if (f.how == applied::by_flags) {
        out << R"({"build":{)" << map_of_levels(f) << "}}";
    } else {
        out << R"({"argument":"--)" << f.name << R"(={}"})";
    }
    return out.str();
}

std::string described(const factor& f) {
    std::ostringstream out;
    out << R"({"name":)" << quoted(f.name);
    if (f.is_number()) {
        out << R"(,"low":)" << f.low << R"(,"high":)" << f.high << R"(,"integer":true,"base":)" << f.base;
        if (f.logarithmic) out << R"(,"log2":true)";
    } else {
        out << R"(,"levels":[)" << list_of(f.levels, [](const choice& c) { return quoted(c.level); })
            << R"(],"base":)" << quoted(f.base_text());
    }
    if (f.how == applied::by_flags) out << R"(,"hard_to_change":true)";
    out << R"(,"apply":)" << application(f) << R"(,"tier":)" << f.tier;
    if (f.removes_feature) out << R"(,"removes_feature":true)";
    out << R"(,"about":)" << quoted(f.about) << "}";
    return out.str();
}

}  // namespace

bool factor::has_level(std::string_view level) const {
    return std::ranges::find(levels, level, &choice::level) != levels.end();
}

std::string factor::range_text() const {
    if (is_number()) return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    std::string all;
    for (const choice& c : levels) {
        if (!all.empty()) all += ", ";
        all += c.level;
    }
    return levels.size() == 1 ? all : "one of " + all;
}

const std::vector<factor>& factors() {
    static const std::vector<factor> all = [] {
        std::vector<factor> made;
        add_cfg(made);
        add_env(made);
        add_bld(made);
        add_app(made);
        return made;
    }();
    return all;
}

const factor* find_factor(std::string_view name) {
    const auto found = std::ranges::find(factors(), name, &factor::name);
    return found == factors().end() ? nullptr : &*found;
}

const std::vector<std::string>& constraints() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made{
            "cfg_log_flush=line requires cfg_item_log=stderr|file|tmpfs",
            "cfg_qcap >= cfg_batch",
            "app_items >= cfg_batch",
            "app_reports=trace requires cfg_stats=histograms|summed",
            "cfg_clock=ticks_around|steady|coarse requires cfg_stats=histograms|summed",
            "cfg_clock=coarse excludes app_work=sleep",  // sleeps would end too early
            "env_sched=fifo requires env_nice=0",
            "app_consumer=for_each requires cfg_sink=" + find_factor("cfg_sink")->base_text(),
        };
        for (const std::string& name : factors_of_pipelines()) {
            made.push_back("app_shape=executor requires " + name + "=" + find_factor(name)->base_text());
        }
        made.push_back("app_shape=pipeline requires app_wave=" + find_factor("app_wave")->base_text());
        return made;
    }();
    return all;
}

const std::vector<std::string>& factors_of_pipelines() {
    static const std::vector<std::string> all{"cfg_stats",    "cfg_clock",   "cfg_qcap",  "cfg_sink",
                                              "cfg_batch",    "cfg_handoff", "cfg_order", "cfg_slots",
                                              "app_consumer", "app_reports"};
    return all;
}

std::string factor_file() {
    std::ostringstream out;
    out << "{\"factors\":[\n"
        << list_of(factors(), [](const factor& f) { return described(f) + "\n"; }) << "],\n\"constraints\":["
        << list_of(constraints(), quoted)
        << "],\n\"build\":[\"bash\",\"bench/tasks/build.sh\",\"{flags}\",\"{folder}\"],\n"
        << "\"command\":[\"{folder}/bench/tasks\"],\"score\":\"@result.us_per_task\"}\n";
    return out.str();
}

}  // namespace tasks
