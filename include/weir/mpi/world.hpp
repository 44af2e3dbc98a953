// weir mpi: world: MPI in this process, from its start to its end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_WORLD_HPP
#define WEIR_MPI_WORLD_HPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/process.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/sync_wait.hpp>

#include <cstdio>     // for std::fprintf
#include <exception>  // for std::exception, std::uncaught_exceptions
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::forward

namespace weir::mpi {

namespace detail {

// Refuses a second world.
class only_one {
  public:
    only_one() {
        // relaxed, both: no data is passed on
        if (!exists_.exchange(true, std::memory_order_relaxed)) return;
        throw std::logic_error(
            "weir: there is a weir::mpi::world in this process already, and MPI is initialised once; pass "
            "the "
            "world on by reference");
    }
    only_one(const only_one&) = delete;
    only_one& operator=(const only_one&) = delete;
    ~only_one() { exists_.store(false, std::memory_order_relaxed); }  // as above

  private:
    // Whether there is a world in this process.
    inline static standard_platform::atomic<bool> exists_{false};
};

}  // namespace detail

/// MPI in this process: the constructor initialises MPI, the destructor finalises MPI. Also the communicator
/// of all ranks.
///
///     int main() {
///         weir::mpi::world all;
///         return all.run([&] { train(all.rank(), all.size()); });
///     }
///
/// The world's thread initialises and finalises MPI, and polls it while operations are pending. So
/// MPI_THREAD_FUNNELED is enough. From MPI_THREAD_SERIALIZED on, other threads begin operations, too, and an
/// idle thread of the `thread_pool` or `run_loop` whose coroutine waits polls: the world's thread only does
/// so while no such thread does.
///
/// If the program has initialised MPI already, the world uses that MPI, and does not finalise it. The program
/// then has to ask for MPI_THREAD_MULTIPLE; or for MPI_THREAD_SERIALIZED, if its other threads call no MPI.
///
/// Failures: a rank fails if its function throws in `run`, or if an exception leaves the scope of its world.
///           It tells all other ranks, whose awaits throw `rank_failed`. A rank that is not heard of for
///           `failure_options::dead_after` is found by the next rank, which does the same. When all worlds
///           are destroyed, or after `failure_options::grace`, MPI_Abort ends the job with a status. MPI 3
///           has no way to continue without the failed rank: restart the job from its last checkpoint.
/// Errors:   `std::logic_error` for a second world in the process, after the end of MPI, or if MPI grants too
///           low a level of threads; `std::bad_alloc`; `std::system_error` if no thread can be started.
/// Lifetime: everything that sends or receives ends before the world. The destructor waits for all ranks.
/// Cost:     a thread. Whoever polls does so for 200 us after each event without a pause, then less and less
///           often: see `polling_options`. At rest 0.2 % of a core, 0.8 % while a coroutine waits.
class world : detail::only_one, detail::process, public communicator {
  public:
    /// Initialises MPI, unless the program has. Blocks until all ranks have begun theirs.
    /// \param how  see `world_options`; the same on all ranks.
    explicit world(const world_options& how = {}) : process(how), communicator(process::all()) {}
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        if (std::uncaught_exceptions() > exceptions_)
            process::fail("an exception left the scope of its world");
        process::leave();
    }

    /// Calls the function. An exception of the function, or the failure of another rank, is printed with the
    /// rank, and told to all ranks.
    /// \returns the status for `main`: 0, or 1 after a failure.
    template <class Function>
    int run(Function&& function) {
        std::string why;
        try {
            std::forward<Function>(function)();
            return 0;
        } catch (const std::exception& e) {
            why = e.what();
        } catch (...) {
            why = "an exception that is no std::exception";
        }
        if (const rank_failed* const other = failure()) {
            std::fprintf(stderr, "rank %d ends: %s\n", rank(), other->what());
        } else {
            std::fprintf(stderr, "rank %d failed: %s\n", rank(), why.c_str());
            process::fail(why);
        }
        return 1;
    }

    /// Begins submitted operations, and ends those that are complete. Only a world without a thread of its
    /// own needs such calls: see `world_options::own_thread`.
    /// \returns true if an operation has ended. Threads: any, unless MPI has only MPI_THREAD_FUNNELED.
    bool poll() noexcept { return process::its()->poll(); }

    /// \returns the level of threads that MPI grants, one of `MPI_THREAD_...`.
    [[nodiscard]] int thread_level() const noexcept { return process::level(); }

    /// \returns the failure of a rank, or null. Lifetime: the world's. Threads: any.
    [[nodiscard]] const rank_failed* failure() const noexcept { return process::its()->failure(); }

  private:
    const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace weir::mpi

#endif
