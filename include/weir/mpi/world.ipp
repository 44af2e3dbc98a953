// weir mpi, internal: how a process begins MPI, or finds MPI begun, and what levels of threads are refused
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_WORLD_IPP
#define WEIR_MPI_WORLD_IPP

#include <weir/mpi/world.hpp>

#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>

namespace weir::mpi::detail {

// Empty if a world may ask MPI_Init_thread for this level of threads; else, why not.
inline std::string why_not_level(int threads) {
    std::string why;
    if (threads == MPI_THREAD_SINGLE) {
        why = "MPI_THREAD_SINGLE, which forbids other threads";
    } else if (threads != MPI_THREAD_FUNNELED && threads != MPI_THREAD_SERIALIZED &&
               threads != MPI_THREAD_MULTIPLE) {
        why = std::to_string(threads) + ", which is no level";
    }
    if (why.empty()) return why;
    return "world_options::threads is " + why +
           ": ask for MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED or MPI_THREAD_FUNNELED";
}

// The options, with pauses that are short enough for heartbeats, which only polls send; of a minute at most,
// so that an instant and a pause have a sum.
inline polling_options polling_of(const world_options& how) noexcept {
    polling_options polling = how.polling;
    duration most = std::chrono::minutes(1);
    if (how.failures.heartbeat > duration(0)) {
        most = weir::detail::smaller(most, weir::detail::smaller(how.failures.heartbeat,
                                                                 how.failures.dead_after / 2) /
                                               2);
    }
    polling.background = weir::detail::smaller(polling.background, most);
    polling.longest = weir::detail::smaller(polling.longest, most);
    return polling;
}

inline void process::initialise() noexcept try {
    if (how_.failures.heartbeat > duration(0) && how_.failures.dead_after <= duration(0)) {
        return refuse(
            "failure_options::dead_after is 0 or less, so that each rank would be dead at once; to watch no "
            "ranks, set failure_options::heartbeat to 0");
    }
    int is_initialised = 0;
    int is_finalised = 0;
    if (MPI_Initialized(&is_initialised) != MPI_SUCCESS) return refuse("MPI_Initialized failed");
    if (MPI_Finalized(&is_finalised) != MPI_SUCCESS) return refuse("MPI_Finalized failed");
    if (is_finalised != 0) {
        return refuse(
            "MPI was finalised in this process, and can't begin again; keep one world for the whole program");
    }
    finalises_ = is_initialised == 0;
    if (finalises_) {
        const std::string why = why_not_level(how_.threads);
        if (!why.empty()) return refuse(why);
        if (MPI_Init_thread(nullptr, nullptr, how_.threads, &level_) != MPI_SUCCESS)
            return refuse("MPI_Init_thread failed");
        if (level_ < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            return refuse("this MPI knows no threads: it grants only MPI_THREAD_SINGLE");
        }
    } else {
        check_call(MPI_Query_thread(&level_), "MPI_Query_thread");
        if (!how_.own_thread && level_ < MPI_THREAD_FUNNELED) {
            return refuse(
                "MPI was initialised by the program with MPI_THREAD_SINGLE, which forbids other threads: let "
                "the world initialise MPI, or ask MPI_Init_thread for MPI_THREAD_FUNNELED");
        }
        if (how_.own_thread && level_ < MPI_THREAD_SERIALIZED) {
            return refuse(
                "MPI was initialised by the program for one thread only, and a world has its own: let the "
                "world initialise MPI, or ask MPI_Init_thread for MPI_THREAD_SERIALIZED");
        }
    }
    loop_->set_thread(level_ < MPI_THREAD_SERIALIZED);
    MPI_Comm all = MPI_COMM_NULL;
    check_call(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_call(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
    all_ = owned_comm::make(loop_, all);
    check_call(MPI_Comm_dup(MPI_COMM_WORLD, &heartbeat_comm_), "MPI_Comm_dup");
    check_call(MPI_Comm_set_errhandler(heartbeat_comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    heartbeat_.emplace(*loop_, heartbeat_comm_, how_.failures);
    loop_->set_periodic(&*heartbeat_);
} catch (const error& e) {
    refuse(std::string(e.call()) + " failed: " + e.code().message());
} catch (const std::exception& e) {
    refuse(e.what());
}

}  // namespace weir::mpi::detail

#endif
