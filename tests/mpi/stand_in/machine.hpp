// What tests steer and ask of the stand-in for MPI.
//
// It stands at the link seam: a program that is linked with it needs no MPI. All ranks are in one process;
// `as` says for which rank the calling thread calls next, until then rank 0. It does what the standard says; where
// that leaves a choice, what shows a mistake: messages are late by a random number of calls, messages of
// different senders overtake each other, sends of more than `eager` bytes end when they are received.
// MPI_Comm_dup and MPI_Comm_create_group return at once, as a thread that plays all ranks can't block.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MPI_STAND_IN_MACHINE_HPP
#define WEIR_TESTS_MPI_STAND_IN_MACHINE_HPP

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stand_in {

struct settings {
    int ranks = 1;
    int level = MPI_THREAD_MULTIPLE;  // at most that is granted
    std::uint64_t seed = 0;           // of delays; 0: none
    int longest_delay = 8;            // in calls that make progress
    std::size_t eager = 64;
    bool abort_exits = false;  // MPI_Abort ends the process, with its status
};

// Everything back to the beginning.
void reset(const settings& how = {});
// The rank for which this thread calls from now on.
void as(int rank);

// The call number `nth`, from 0, of the function from now on fails with the class of errors: begun operations
// are dropped. `at_end`: the call that begins succeeds, and the request fails when it is tested.
void fail(const std::string& function, int nth = 0, int error_class = MPI_ERR_OTHER, bool at_end = false);

struct report {
    std::vector<std::string> wrong;  // what the standard forbids, a sentence each
    std::size_t requests = 0;        // neither complete nor freed
    std::size_t messages = 0;        // sent and not received
    std::size_t communicators = 0;   // made and not freed
    std::optional<int> aborted;      // the status of MPI_Abort
    std::size_t calls = 0;
};
report look();
// How often the function was called.
std::size_t num_calls(const std::string& function);
// The names of all functions that were called.
std::vector<std::string> called();

struct failed_call {
    std::string function;
    std::string context;  // the name of the communicator; empty: the function has none
};
// The calls that failed as asked for, in order.
std::vector<failed_call> failed();

// From now on each call calls this first: where one rank blocks, the others go on. Not within itself.
void during_calls(std::function<void()> what);

}  // namespace stand_in

#endif
