// lab driver: runs pairs, and makes work trees of commits
#include "lab/driver/duel.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"
#include "lab/driver/lock.hpp"
#include "lab/driver/process.hpp"
#include "lab/driver/run_store.hpp"
#include "lab/driver/score.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace lab {

namespace {

process_result shell(const std::string& line, const std::string& log, const duel_options& options,
                     double limit_s) {
    process_options process;
    process.command = {"sh", "-c", line};
    process.stdout_file = log + ".out";
    process.stderr_file = log + ".err";
    process.limit_s = limit_s;
    process.stop = options.stop;
    return run_process(process);
}

std::string in_quotes(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

// Checks the commit out into a folder named after its hash, and builds it. Returns the command that runs it.
std::string prepared(const std::string& commit, const duel_options& options) {
    std::string log = options.folder + "/logs/commit";
    const auto need = [&](const std::string& line, const std::string& what) {
        const process_result done = shell(line, log, options, 0);
        if (done.end != process_end::exited || done.code != 0)
            throw input_error(what + " failed: " + text_in(log + ".err").substr(0, 500) +
                              " (all of it: " + log + ".err)");
    };
    need("git rev-parse --verify --end-of-options " + in_quotes(commit + "^{commit}"),
         "looking for " + commit);
    std::string hash;
    std::ifstream(log + ".out") >> hash;
    log = options.folder + "/logs/" + hash;
    const std::string tree = std::filesystem::absolute(options.folder + "/trees/" + hash).string();
    const std::string whole = tree + ".whole";  // is there once the tree is
    if (!std::filesystem::exists(whole)) {
        std::filesystem::remove_all(tree);
        need("git worktree prune && git worktree add --detach " + in_quotes(tree) + " " + hash,
             "checking out " + commit);
        std::ofstream{whole};
    }
    if (!options.build.empty()) need("cd " + in_quotes(tree) + " && " + options.build, "building " + commit);
    return "cd " + in_quotes(tree) + " && " + options.command;
}

}  // namespace

duel_result run_duel(const duel_options& options) {
    if (!options.commits.empty() && options.command.empty())
        throw input_error("--commits needs --command: the line that runs a commit's program");
    std::filesystem::create_directories(options.folder + "/logs");
    const driver_lock machine(driver_lock::machine_path(), "compares into " + options.folder);
    const bool commits = !options.commits.empty();
    const std::vector<std::string>& names = commits ? options.commits : options.commands;
    const std::string lines[2]{commits ? prepared(names[0], options) : names[0],
                               commits ? prepared(names[1], options) : names[1]};
    factor_file scores;
    scores.score = options.score;
    run_store store(options.folder, {"@run", "@time", "@status", "@message", "@duration_s", "@user_s",
                                     "@system_s", "@peak_kb", "@command", "side", "cost"});
    duel_result result{names[0], names[1], {}, {}, store.csv_path()};
    std::mt19937_64 random(options.seed + store.rows().size());
    for (std::size_t pair = 0; pair < options.pairs; ++pair) {
        const bool b_first = (random() & 1) != 0;
        double costs[2]{};
        bool both = true;
        for (const bool second : {false, true}) {
            const std::size_t side = second != b_first ? 1 : 0;
            const std::string log = options.folder + "/logs/run";
            const process_result run = shell(lines[side], log, options, options.limit_s);
            if (run.end == process_end::stopped) return result;
            reported report;
            report.status = status_of(run);
            if (report.status == "ok" && options.score == "duration") {
                report.cost = run.duration_s;
            } else if (report.status == "ok") {
                report = report_in(text_in(log + ".out"), scores, {});
            } else {
                report.message = text_in(log + ".err").substr(0, 300);
            }
            const bool fine = report.status == "ok";
            both = both && fine;
            if (!fine) ++result.failed[report.status];
            costs[side] = report.cost;
            store.append({std::to_string(store.rows().size() + 1), exact_text(run.started), report.status,
                          report.message, exact_text(run.duration_s), exact_text(run.user_s),
                          exact_text(run.system_s), std::to_string(run.peak_kb), names[side],
                          side == 0 ? "A" : "B", fine ? exact_text(report.cost) : ""});
        }
        if (both) result.pairs.emplace_back(costs[0], costs[1]);
    }
    return result;
}

}  // namespace lab
