// lab driver: runs two commands or two commits in turns
#ifndef LAB_DRIVER_DUEL_HPP
#define LAB_DRIVER_DUEL_HPP

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lab {

struct duel_options {
    std::vector<std::string> commands;  // A and B, for the shell
    std::vector<std::string> commits;   // or these, each built and run in its own work tree
    std::string build;
    std::string command;
    std::string score = "last number";  // as in a factor file, or "duration": seconds by the clock
    std::size_t pairs = 20;
    double limit_s = 300;
    std::uint64_t seed = 1;
    std::string folder = "lab-compare";
    const volatile std::sig_atomic_t* stop = nullptr;
};

struct duel_result {
    std::string a;
    std::string b;
    std::vector<std::pair<double, double>> pairs;  // costs of A and B, of pairs in which both ended well
    std::map<std::string, std::size_t> failed;
    std::string csv;
};

// Runs A and B one after the other, in random order, this many times. Each run is a row of FOLDER/runs.csv with
// the column `side`, also failures. A further call adds more pairs. Throws input_error if a commit does not
// exist or can't be built.
duel_result run_duel(const duel_options& options);

}  // namespace lab

#endif
