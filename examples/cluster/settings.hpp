// cluster: the settings from the command line, which all ranks read.
// A rank that is to be slow, or to die, shows what the others do then.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CLUSTER_SETTINGS_HPP
#define WEIR_EXAMPLES_CLUSTER_SETTINGS_HPP

#include "../common/options.hpp"

#include <cstdint>       // for std::int64_t
#include <cstdio>        // for std::sscanf
#include <filesystem>    // for std::filesystem::directory_iterator
#include <optional>      // for std::optional
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::error_code

namespace cluster {

struct settings {
    std::string directory = "/usr/share/doc";
    std::string checkpoint = "cluster.weir";
    std::int64_t ranks = 4;
    std::int64_t train_us = 200;
    std::string slow, kill;  // as they were given

    int slow_rank = -1;
    std::string slow_stage;
    double slow_factor = 1;
    int killed_rank = -1;
    double killed_after = 0;  // seconds
};

/// \returns the exit status if the program has to end now; nothing if it continues.
inline std::optional<int> parse(int argc, char** argv, settings& s) {
    examples::options options("cluster [OPTION...] [DIR]",
                              "Ranks read and tokenize text files for one that trains on them.");
    options.argument("DIR", s.directory, "where the files are (" + s.directory + ")");
    options.number("-n", s.ranks, 2, 1'000, "ranks, if mpirun has not started the program");
    options.number("--train-us", s.train_us, 0, 1'000'000, "how long the training of a file takes");
    options.text("--checkpoint", "FILE", s.checkpoint,
                 "where the next start continues (" + s.checkpoint + ")");
    options.text("--slow", "RANK:STAGE:FACTOR", s.slow, "makes a stage of a rank slower: 2:tokenize:1.9");
    options.text("--kill", "RANK@SECONDS", s.kill, "a rank dies after this time: 1@2.5");
    if (const auto status = options.parse(argc, argv)) return status;
    char stage[32] = "", more = 0;
    const int slow =
        std::sscanf(s.slow.c_str(), "%d:%31[^:]:%lf%c", &s.slow_rank, stage, &s.slow_factor, &more);
    s.slow_stage = stage;
    const bool has_stage = s.slow_stage == "read" || s.slow_stage == "tokenize";
    const bool has_factor = s.slow_factor >= 1 && s.slow_factor <= 1'000;  // not if it is not a number
    if (!s.slow.empty() && (slow != 3 || !has_stage || s.slow_rank < 1 || !has_factor))
        return options.wrong("--slow takes RANK:STAGE:FACTOR, not '" + s.slow +
                             "': a rank from 1, read or tokenize, and a factor from 1 to 1000");
    const int kill = std::sscanf(s.kill.c_str(), "%d@%lf%c", &s.killed_rank, &s.killed_after, &more);
    const bool has_time = s.killed_after >= 0 && s.killed_after <= 1'000'000;
    if (!s.kill.empty() && (kill != 2 || s.killed_rank < 0 || !has_time))
        return options.wrong("--kill takes RANK@SECONDS, not '" + s.kill +
                             "': a rank from 0, and a time from 0 to 1000000");
    return std::nullopt;
}

/// Refuses settings that don't fit the number of ranks, or a directory that this machine can't read.
inline void check(const settings& s, int ranks) {
    if (ranks < 2) throw std::runtime_error("cluster needs 2 ranks or more: one trains, the others prepare");
    for (const int rank : {s.slow_rank, s.killed_rank}) {
        if (rank < ranks) continue;
        throw std::runtime_error("there is no rank " + std::to_string(rank) + ": the last one is " +
                                 std::to_string(ranks - 1));
    }
    std::error_code error;
    const std::filesystem::directory_iterator files(s.directory, error);
    if (error) throw std::runtime_error("'" + s.directory + "' can't be read: " + error.message());
}

}  // namespace cluster

#endif
