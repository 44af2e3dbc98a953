// The cost of a task in microseconds. Every factor that may matter can be set: the counterpart of parsl-perf, for `lab`. The
// program prints one performance indicator, with the settings that it really had.
#include "build.hpp"
#include "clocks.hpp"
#include "document.hpp"
#include "factors.hpp"
#include "item_log.hpp"
#include "measurement.hpp"
#include "runner.hpp"
#include "settings.hpp"
#include "surroundings.hpp"
#include "workload.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/version.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace tasks;

constexpr const char* usage =
    R"(tasks [--FACTOR=VALUE]... [--time SECONDS] [--table]
    passes tasks through a pipeline, or an executor alone, and prints what one costs, as JSON
  --FACTOR=VALUE     see --list-factors; also by an environment variable of that name in upper case
  --time SECONDS     finds out how many items take so long, instead of --app_items
  --table            for people
  --list-factors     prints all factors, as `lab plan` reads them

us_per_task: from the first item's making to the last one's end, by the number of items; a task is an item with
    the work of all stages. A batch of a tenth of the items, or batches that grow, come before.
ideal_us_per_task: if passing items on cost nothing: the largest of
    work x stages / min(workers, their cores), but for sleep;
    work / slots, or work x stages / slots where the stages are fused (with app_shape=executor and sleep:
    work x stages / app_wave);
    work, for chain;
  with work measured alone on one thread (of sleep: app_work_ns).
overhead_us: us_per_task - ideal_us_per_task.
overall_score: tasks a second.
No factors, as the library has one of each: how long an idle worker looks before it sleeps, where the frames of
    coroutines come from, and that who is woken is posted, never resumed at once.
Exit status: 2 for what can't be set, or is not what was asked for; 1 if the run fails.
)";

std::unique_ptr<runner> make_runner(const context& c) {
    if (c.asked.is("app_shape", "executor")) return make_tasks(c);
    const bool batches = c.asked.of("cfg_batch") > 1;
    if (c.asked.is("cfg_stats", "off")) {
        return batches ? make_pipeline<weir::unmeasured, true>(c) : make_pipeline<weir::unmeasured, false>(c);
    }
    if (c.asked.is("cfg_stats", "summed")) {
        return batches ? make_pipeline<weir::summed, true>(c) : make_pipeline<weir::summed, false>(c);
    }
    return batches ? make_pipeline<weir::measured, true>(c) : make_pipeline<weir::measured, false>(c);
}

void tell_build(values& effective) {
    const build& b = build_of_this();
    effective.set("bld_opt", b.optimisation);
    effective.set("bld_lto", b.lto);
    effective.set("bld_march", b.march);
    effective.set("bld_ndebug", b.ndebug);
    effective.set("bld_linker", b.linker);
    effective.set("bld_pgo", b.pgo);
    effective.set("bld_cc", b.compiler);
}

void tell_workload(values& effective, const values& asked, const workload& work) {
    effective.set("app_work", asked.text("app_work"));
    effective.set("app_work_ns", work.asked_ns());
    effective.set("app_work_bytes", work.bytes());
}

std::vector<figure> figures(const measurement& m, double ideal, latencies& times) {
    const double us = m.us_per_task();
    std::vector<figure> all{{"us_per_task", us},
                            {"tasks_per_second", 1e6 / us},
                            {"ideal_us_per_task", ideal},
                            {"overhead_us", us - ideal},
                            {"elapsed_s", m.seconds},
                            {"tasks", static_cast<double>(m.items), true},
                            {"user_cpu_s", m.user_seconds},
                            {"system_cpu_s", m.system_seconds},
                            {"voluntary_switches", static_cast<double>(m.waits), true},
                            {"involuntary_switches", static_cast<double>(m.preemptions), true}};
    if (times.on()) {
        all.push_back({"latency_p50_us", times.quantile_us(0.5)});
        all.push_back({"latency_p99_us", times.quantile_us(0.99)});
    }
    return all;
}

int run(int argc, char** argv) {
    const settings s = read_settings(argc, argv);
    if (s.help) std::cout << usage;
    if (s.list) std::cout << factor_file();
    if (s.help || s.list) return 0;
    check_constraints(s.asked);
    start_anew_if_needed(s.asked, argv);
    set_process(s.asked);

    item_log log(s.asked);
    latencies times(s.asked.is("app_latency", "on"));
    const auto workers = static_cast<unsigned>(s.asked.of("cfg_workers"));
    affinity cores(s.asked, workers);
    weir::thread_pool pool(workers, {.most_workers = 0,
                                     .on_thread_start = [&](unsigned worker) { cores.set(worker); }});
    chosen_clock clock(s.asked, pool);
    workload work(s.asked, log);  // its queues use this clock
    const context c{s.asked, clock.executor(), work, times};
    const std::unique_ptr<runner> all = make_runner(c);
    const auto items = static_cast<std::uint64_t>(s.asked.of("app_items"));

    values effective;
    effective.set("cfg_workers", threads_named("weir "));
    cores.tell(effective);
    tell_surroundings(effective, cores.threads().front());
    tell_build(effective);
    log.tell(effective);
    effective.set("cfg_clock", clock.level());
    tell_workload(effective, s.asked, work);
    effective.set("app_latency", times.on() ? "on" : "off");
    check_effective(s.asked, effective);

    const measurement m = measure(*all, c, log, items, s.seconds);
    all->tell(effective);
    effective.set("app_items", static_cast<integer>(m.items));
    check_effective(s.asked, effective);

    document d(effective);
    d.results = figures(m, ideal_us_per_task(effective, work, cores.cores()), times);
    d.overall_score = 1e6 / m.us_per_task();
    d.about = {{"machine", weir::detail::name_of_system()},
               {"processor", weir::detail::line_of_system("/proc/cpuinfo", "model name")},
               {"cores_of_workers", cores.map_text()},
               {"bytes_of_environment", std::to_string(bytes_of_environment())},
               {"compiler", weir::detail::name_of_compiler()},
               {"library", weir::detail::name_of_library()},
               {"build_flags", build_of_this().flags},
               {"date", weir::detail::utc_now()}};
    std::cout << (s.table ? d.table() : d.json()) << std::flush;
    return std::cout ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const refusal& e) {
        std::cerr << "tasks: " << e.why << "\n";
        return 2;
    } catch (const std::exception& e) {
        std::cerr << "tasks: " << e.what() << "\n";
        return 1;
    }
}
