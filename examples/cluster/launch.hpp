// cluster: starts the ranks with mpirun, unless something else has started them.
// The processes that mpirun starts find variables of the launcher in their environment.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CLUSTER_LAUNCH_HPP
#define WEIR_EXAMPLES_CLUSTER_LAUNCH_HPP

#include "settings.hpp"

#include <signal.h>  // for kill
#include <unistd.h>  // for execvp, geteuid, getpid

#include <chrono>    // for std::chrono::duration
#include <cstdlib>   // for std::getenv, std::strtoull
#include <iostream>  // for std::cerr
#include <string>    // for std::string
#include <thread>    // for std::thread
#include <vector>    // for std::vector

namespace cluster {

/// \returns whether a launcher has started this process as one of several ranks.
inline bool is_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        if (std::getenv(name) != nullptr) return true;
    }
    // Slurm gives a batch script SLURM_PROCID, too; its step has no number, or one of the largest.
    const char* const step = std::getenv("SLURM_STEP_ID");
    return std::getenv("SLURM_PROCID") != nullptr && step != nullptr &&
           std::strtoull(step, nullptr, 10) < 4'000'000'000;
}

/// Replaces this process by mpirun, which starts the program `s.ranks` times on this machine.
/// \returns the exit status if there is no mpirun.
inline int start_ranks(char** argv, const settings& s) {
    if (::geteuid() == 0) {  // Open MPI refuses root otherwise, and more ranks than processors
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    std::string program = "mpirun", option = "-n", ranks = std::to_string(s.ranks);
    std::vector<char*> words = {program.data(), option.data(), ranks.data()};
    for (; *argv != nullptr; ++argv) words.push_back(*argv);
    words.push_back(nullptr);
    ::execvp(program.c_str(), words.data());
    std::cerr << "cluster: mpirun can't be started; install Open MPI or MPICH\n";
    return 1;
}

/// If this rank is the one that is to die, it does so after the time that was given.
inline void die_later(int rank, const settings& s) {
    if (rank != s.killed_rank) return;
    std::thread([after = std::chrono::duration<double>(s.killed_after)] {
        std::this_thread::sleep_for(after);
        ::kill(::getpid(), SIGKILL);
    }).detach();
}

}  // namespace cluster

#endif
