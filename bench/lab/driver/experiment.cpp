// lab driver: turns a schedule into rows of results
#include "lab/driver/experiment.hpp"

#include "lab/data/csv.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"
#include "lab/driver/folder.hpp"
#include "lab/driver/launch.hpp"
#include "lab/driver/lock.hpp"
#include "lab/driver/process.hpp"
#include "lab/driver/run_store.hpp"
#include "lab/driver/score.hpp"

#include <weir/platform/system_info.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace lab {

namespace {

std::string last_line_of(const std::string& text) {
    std::string last;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) last = line;
    return last.substr(0, 300);
}

class experiment {
  public:
    experiment(const factor_file& file, const plan& schedule, const experiment_options& options)
        : file_(file), schedule_(schedule), options_(options),
          store_(options.folder, columns_of(schedule, file)),
          builds_(options.folder + "/builds", options.build_limit_s, options.stop),
          host_(weir::detail::name_of_host()) {}

    experiment_result run() {
        result_.planned = schedule_.runs.size();
        result_.csv = store_.csv_path();
        result_.sqlite = store_.sqlite_path();
        const std::set<std::size_t> done = done_before();
        result_.done_before = done.size();
        make_builds(done);
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < schedule_.runs.size() && !result_.stopped; ++i) {
            if (done.contains(i)) continue;
            result_.stopped = is_stopped();
            if (result_.stopped) break;
            const double spent =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (options_.budget_s > 0 && spent >= options_.budget_s) {
                result_.out_of_budget = true;
                break;
            }
            run_one(i);
        }
        summarise();
        return result_;
    }

  private:
    // "us_per_task" of "@result.us_per_task".
    static std::string last_part(const std::string& path) {
        return path == "last number" ? "cost" : path.substr(path.rfind('.') + 1);  // npos + 1 is 0
    }
    static std::vector<std::string> columns_of(const plan& schedule, const factor_file& file) {
        std::vector<std::string> columns{"@run",
                                         "@time",
                                         "@status",
                                         "@message",
                                         "@position",
                                         "@block",
                                         "@plot",
                                         "@control",
                                         "@host",
                                         "@build",
                                         "@seed",
                                         "@duration_s",
                                         "@user_s",
                                         "@system_s",
                                         "@peak_kb",
                                         "@minor_faults",
                                         "@major_faults",
                                         "@blocks_in",
                                         "@blocks_out",
                                         "@voluntary_switches",
                                         "@involuntary_switches"};
        for (const std::string& path : file.also) {
            const std::string name = path.starts_with('@') ? path : "@" + path;
            if (std::find(columns.begin(), columns.end(), name) != columns.end())
                throw input_error(file.name, "'also' has '" + path + "', and there is a column of that name");
            columns.push_back(name);
        }
        for (const factor& f : schedule.factors) columns.push_back(f.name);
        columns.push_back(last_part(file.score));
        return columns;
    }

    [[nodiscard]] const std::string& field(const std::vector<std::string>& row, const char* column) const {
        return row[store_.column(column)];
    }
    [[nodiscard]] std::size_t position(const std::vector<std::string>& row) const {
        return static_cast<std::size_t>(number_in(field(row, "@position")).value_or(1e9));
    }
    [[nodiscard]] std::set<std::size_t> done_before() const {
        std::set<std::size_t> done;
        for (const std::vector<std::string>& row : store_.rows())
            if (!options_.retry_failed || field(row, "@status") == "ok") done.insert(position(row));
        return done;
    }

    [[nodiscard]] bool is_stopped() const { return options_.stop != nullptr && *options_.stop != 0; }

    // Fails before anything is measured.
    void make_builds(const std::set<std::size_t>& done) {
        std::set<std::string> made;
        for (std::size_t i = 0; i < schedule_.runs.size() && !is_stopped(); ++i) {
            const std::string flags = launch_of(file_, schedule_.runs[i].values).build_flags;
            if (file_.build.empty() || done.contains(i) || !made.insert(flags).second) continue;
            if (options_.progress) options_.progress("building with '" + flags + "' ...");
            builds_.build(file_, flags);
        }
    }

    void run_one(std::size_t i) {
        const planned_run& planned = schedule_.runs[i];
        launch what = launch_of(file_, planned.values);
        const builds::built& build = builds_.build(file_, what.build_flags);
        const std::string log = options_.folder + "/logs/" + std::to_string(i);
        for (std::string& word : what.command)
            word = filled(filled(word, "{folder}", build.folder), "{settings}",
                          std::filesystem::absolute(log + ".settings").string());
        if (!what.settings.empty()) weir::detail::output_file::replace(log + ".settings", what.settings);
        std::vector<std::string> measured = file_.command;
        for (std::string& word : measured) word = filled(word, "{folder}", build.folder);
        process_options process{what.command, what.environment, log + ".out", log + ".err"};
        process.limit_s = options_.limit_s;
        process.stop = options_.stop;
        process_result run;
        reported report;
        if (!build.error.empty()) {
            report.status = "build failed";
            report.message = build.error;
            run.started =
                std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
        } else {
            run = run_process(process);
            if (run.end == process_end::stopped) {
                result_.stopped = true;
                return;
            }
            const std::string status = status_of(run);
            if (status == "ok") {
                report = report_in(text_in(process.stdout_file), file_, planned.values);
                note_echo(report);
            } else {
                report.status = status;
                report.message = run.end == process_end::not_started
                                     ? run.message
                                     : last_line_of(text_in(process.stderr_file));
            }
        }
        if (report.status == "ok") {
            for (const std::string& kept : {process.stdout_file, process.stderr_file, log + ".settings"})
                std::filesystem::remove(kept);
        }
        append(i, planned, build_id(measured), run, report);
        ++result_.done;
        if (options_.progress) {
            options_.progress(std::to_string(result_.done_before + result_.done) + " of " +
                              std::to_string(result_.planned) + ": " +
                              (report.status == "ok" ? short_text(report.cost) : report.status) + "  " +
                              configuration_text(file_.factors, planned.values));
        }
    }

    void append(std::size_t i, const planned_run& planned, const std::string& build,
                const process_result& run, const reported& report) {
        const auto count = [](auto number) { return std::to_string(number); };
        const auto rounded = [](double number) { return exact_text(std::round(number * 1e6) / 1e6); };
        std::vector<std::string> row{count(store_.rows().size() + 1),
                                     rounded(run.started),
                                     report.status,
                                     report.message,
                                     count(i),
                                     count(planned.block),
                                     planned.plot,
                                     planned.control,
                                     host_,
                                     build,
                                     options_.seed,
                                     rounded(run.duration_s),
                                     rounded(run.user_s),
                                     rounded(run.system_s),
                                     count(run.peak_kb),
                                     count(run.minor_faults),
                                     count(run.major_faults),
                                     count(run.blocks_in),
                                     count(run.blocks_out),
                                     count(run.voluntary_switches),
                                     count(run.involuntary_switches)};
        for (std::size_t a = 0; a < file_.also.size(); ++a)
            row.push_back(report.status == "ok" ? exact_text(report.also[a]) : "");
        for (std::size_t f = 0; f < file_.factors.size(); ++f)
            row.push_back(file_.factors[f].text_of(planned.values[f]));
        row.push_back(report.status == "ok" ? exact_text(report.cost) : "");
        store_.append(row);
    }

    const std::string& build_id(const std::vector<std::string>& command) {
        const auto [found, is_new] = build_ids_.try_emplace(command);
        if (is_new) found->second = hash_of_command(command);
        return found->second;
    }

    void note_echo(const reported& report) {
        for (const std::string& name : report.not_echoed)
            if (std::find(result_.not_echoed.begin(), result_.not_echoed.end(), name) ==
                result_.not_echoed.end())
                result_.not_echoed.push_back(name);
    }

    void summarise() {
        std::map<std::size_t, double>& costs = result_.costs;
        for (const std::vector<std::string>& row : store_.rows()) {
            if (field(row, "@status") == "ok") {
                costs[position(row)] = number_in(row.back()).value_or(0);
            } else {
                ++result_.failed[field(row, "@status")];
            }
        }
        for (std::size_t i = 0; i + 1 < schedule_.runs.size(); ++i) {
            if (schedule_.runs[i].control.empty()) continue;
            const bool a_first = schedule_.runs[i].control == "A";
            if (costs.contains(i) && costs.contains(i + 1))
                result_.controls.emplace_back(costs[a_first ? i : i + 1], costs[a_first ? i + 1 : i]);
            ++i;
        }
    }

    const factor_file& file_;
    const plan& schedule_;
    const experiment_options& options_;
    run_store store_;
    builds builds_;
    std::string host_;
    std::map<std::vector<std::string>, std::string> build_ids_;
    experiment_result result_;
};

}  // namespace

experiment_result run_experiment(const factor_file& file, const plan& schedule,
                                 const experiment_options& options) {
    std::filesystem::create_directories(options.folder + "/logs");
    const driver_lock machine(driver_lock::machine_path(), "measures into " + options.folder);
    const driver_lock folder(options.folder + "/lock", "measures into it");
    keep_as(options.folder, file, schedule, options.growing);
    return experiment(file, schedule, options).run();
}

}  // namespace lab
