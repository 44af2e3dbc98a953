// lab driver: runs a plan, one run after the other; each run is a row
#ifndef LAB_DRIVER_EXPERIMENT_HPP
#define LAB_DRIVER_EXPERIMENT_HPP

#include "lab/design/plan.hpp"

#include <csignal>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lab {

struct experiment_options {
    std::string folder;           // contains runs.csv, runs.sqlite, schedule.csv, logs/ and builds/
    double limit_s = 300;         // limit of one run
    double build_limit_s = 3600;  // limit of one build
    double budget_s = 0;          // limit of all runs in this call; 0: none
    bool growing = false;         // the schedule may extend that of the folder
    bool retry_failed = false;    // repeats runs whose rows all failed
    std::string seed;             // for the rows
    const volatile std::sig_atomic_t* stop = nullptr;
    std::function<void(const std::string&)> progress;  // a line after each run
};

struct experiment_result {
    std::size_t planned = 0;
    std::size_t done_before = 0;
    std::size_t done = 0;
    std::map<std::string, std::size_t> failed;  // by status, of all rows
    std::vector<std::string> not_echoed;
    bool stopped = false;
    bool out_of_budget = false;
    std::vector<std::pair<double, double>> controls;  // costs of A and B
    std::map<std::size_t, double> costs;              // by place in the schedule, of runs that ended well
    std::string csv;
    std::string sqlite;
};

// Runs the missing part of `schedule`. A row is appended at the end of each run, also for failures; a run that
// is stopped in the middle has none. Throws input_error if the folder has another schedule.
experiment_result run_experiment(const factor_file& file, const plan& schedule,
                                 const experiment_options& options);

}  // namespace lab

#endif
