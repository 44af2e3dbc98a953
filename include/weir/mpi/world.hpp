// weir mpi: world: MPI in this process, from its start to its end
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_WORLD_HPP
#define WEIR_MPI_WORLD_HPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/heartbeat.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/system_thread.hpp>
#include <weir/task/sync_wait.hpp>

#include <mpi.h>

#include <cstdio>     // for std::fprintf
#include <exception>  // for std::exception, std::uncaught_exceptions
#include <memory>     // for std::make_shared, std::shared_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::forward

namespace weir::mpi {

/// The options of a `world`. The defaults are right for programs in which only weir calls MPI.
struct world_options {
    /// The level of threads that MPI is asked for. With MPI_THREAD_MULTIPLE the program may call MPI, too. If
    /// MPI grants less than MPI_THREAD_SERIALIZED, the world's thread (without one, the constructing thread)
    /// makes all calls of MPI.
    int threads = MPI_THREAD_MULTIPLE;
    /// False: the world has no thread; the constructing thread calls `poll` again and again, as an event loop
    /// does, and must not block. Calls that wait for other ranks, such as `sync_wait(all.barrier())` and the
    /// constructor of `mpi::channel`, never end on the polling thread: another thread makes them.
    bool own_thread = true;
    polling_options polling = {};   ///< how often MPI is asked what is complete
    failure_options failures = {};  ///< how the ranks watch each other
};

namespace detail {

polling_options polling_of(const world_options& how) noexcept;

// MPI in this process. With `own_thread`, has the thread that runs the `reactor` (it begins and polls the
// operations). This thread, or else the constructing thread, initialises and finalises MPI, unless the
// program has initialised MPI before.
class process {
  public:
    explicit process(const world_options& how)
        : how_(how), loop_(std::make_shared<reactor>(detail::polling_of(how), how.own_thread)) {
        if (how.own_thread) {
            thread_ = weir::detail::system_thread([this] { run(); });
            while (!started_.wait()) {
            }
        } else {
            initialise();
        }
        if (refusal_.empty()) return;
        if (thread_.joinable()) thread_.join();
        throw std::logic_error("weir: " + refusal_);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    ~process() {
        loop_->close();
        if (how_.own_thread) {
            loop_->end();
            thread_.join();
        } else {
            finalise();
        }
    }

    const std::shared_ptr<reactor>& loop() const noexcept { return loop_; }
    const std::shared_ptr<const owned_comm>& all() const noexcept { return all_; }
    int level() const noexcept { return level_; }

    // Whether the other ranks have to be told of a failure of this rank: no rank has failed, or this rank has
    // failed, and has not given the reason.
    bool must_report_failure() noexcept {
        bool must = false;
        loop_->locked([&]() noexcept { must = loop_->failure() == nullptr || heartbeat_->awaits_reason(); });
        return must;
    }
    // Tells all ranks that this rank has failed. Blocks until a thread that may call MPI has begun to send.
    void fail(const std::string& why) {
        loop_->locked([&]() noexcept { heartbeat_->explain(why); });
        call_and_wait("MPI_Isend", [&](MPI_Request&) {
            heartbeat_->fail(all_->rank, why);
            return MPI_SUCCESS;
        });
    }
    // Returns when all ranks have called leave(). Does not return after the failure of a rank: MPI_Abort ends
    // the process.
    void leave() noexcept {
        for (int i = 0; i < 2; ++i) {  // after the second barrier, no rank sends heartbeats
            call_and_wait("MPI_Ibarrier",
                          [&](MPI_Request& r) noexcept { return MPI_Ibarrier(heartbeat_comm_, &r); });
            call_and_wait("MPI_Wait", [&](MPI_Request&) noexcept { return heartbeat_->stop(); });
        }
        if (loop_->failure() == nullptr) return;
        heartbeat_->leave();
        for (weir::detail::parker never;;) loop_->wait(never);
    }

  private:
    // Calls the function on a thread that may call MPI, and blocks until the operation that the function
    // begins is over. `name`: that of the MPI function. If the MPI function fails, the reactor tells all
    // ranks that this rank has failed.
    template <class Function>
    void call_and_wait(const char* name, Function function) {
        class one_call final : public operation {
          public:
            one_call(reactor& loop, const char* name, Function& f) noexcept
                : operation(name, any_rank, false), loop_(loop), call_(f) {}
            weir::detail::parker done;

          private:
            int begin(MPI_Request& request, bool&) noexcept override { return call_(request); }
            // Reports here, on a thread that may call MPI: the thread that waits may not.
            void ended() noexcept override {
                if (error_class() != MPI_SUCCESS) loop_.report(error(error_class(), call()).what());
                done.set();
            }
            reactor& loop_;
            Function& call_;
        };
        one_call o(*loop_, name, function);
        loop_->submit(o);
        while (!o.done.is_set()) loop_->wait(o.done);
        loop_->locked([]() noexcept {});  // waits until the thread that set the flag has left the object
    }
    // The function of the world's thread.
    void run() noexcept {
        standard_platform::name_thread("weir-mpi");
        weir::detail::end_waits_on_time();
        initialise();
        const bool is_refused = !refusal_.empty();
        started_.set();
        if (is_refused) return;
        loop_->run();
        finalise();
    }

    // Initialises MPI, unless the program has, and makes the members that use MPI. If this fails, or is not
    // allowed, `refusal_` is the reason.
    void initialise() noexcept;
    void refuse(const std::string& why) { refusal_ = why; }

    void finalise() noexcept {
        loop_->locked([this]() noexcept { loop_->set_periodic(nullptr); });
        MPI_Comm all = all_->comm;
        MPI_Comm_free(&all);
        MPI_Comm_free(&heartbeat_comm_);
        if (finalises_) MPI_Finalize();
    }

    const world_options how_;
    const std::shared_ptr<reactor> loop_;
    std::shared_ptr<const owned_comm> all_;    // the communicator of all ranks
    std::optional<heartbeat> heartbeat_;       // finds ranks that have failed
    MPI_Comm heartbeat_comm_ = MPI_COMM_NULL;  // for `heartbeat_` alone
    int level_ = MPI_THREAD_SINGLE;            // as MPI grants it
    bool finalises_ = false;                   // this object, not the program, initialises MPI
    std::string refusal_;                      // why there can be no world; empty: there can
    weir::detail::parker started_;             // set when the thread has initialised MPI, or has refused
    weir::detail::system_thread thread_;
};

// Refuses a second world.
class only_one {
  public:
    only_one() {
        // relaxed, here and in the destructor: no data is passed on
        if (!exists_.exchange(true, std::memory_order_relaxed)) return;
        throw std::logic_error(
            "weir: there is a weir::mpi::world in this process already, and MPI is initialised once; pass "
            "the world on by reference");
    }
    only_one(const only_one&) = delete;
    only_one& operator=(const only_one&) = delete;
    ~only_one() { exists_.store(false, std::memory_order_relaxed); }  // see only_one()

  private:
    inline static standard_platform::atomic<bool> exists_{false};  // whether this process has a world
};

}  // namespace detail

/// MPI in this process, from the constructor to the destructor. Also the communicator of all ranks.
///
///     int main() {
///         weir::mpi::world all;
///         return all.run([&] { train(all.rank(), all.size()); });
///     }
///
/// The world's thread initialises and finalises MPI, and can make all other calls of MPI: so
/// MPI_THREAD_FUNNELED is enough. From MPI_THREAD_SERIALIZED on, other threads begin operations, too, and an
/// idle thread of the `thread_pool` or `run_loop` whose coroutine waits polls: the world's thread polls only
/// while no such thread does.
///
/// If the program has initialised MPI already, the world uses that MPI, and does not finalise it. The program
/// then has to ask for MPI_THREAD_MULTIPLE; or for MPI_THREAD_SERIALIZED, if the program itself calls no MPI
/// while the world exists. For a world without a thread of its own, MPI_THREAD_FUNNELED is enough.
///
/// Failures: a rank fails if its function throws in `run`, if an exception leaves its world's scope, or
///           if MPI reports an error in a channel. The rank tells all other ranks, and all awaits throw
///           `rank_failed`. A rank that is not heard of for `failure_options::dead_after` is found by the
///           next rank, which tells the others. When all worlds are destroyed, or after
///           `failure_options::grace`, MPI_Abort ends the job with a status. MPI 3 has no way to continue
///           without the failed rank: restart the job from its last checkpoint.
/// Errors:   `std::logic_error` for a second world, after the end of MPI, or if a call of MPI fails. Also if
///           `world_options::threads` is MPI_THREAD_SINGLE or no level, or if MPI grants too low a level.
///           `std::bad_alloc`; `std::system_error` if no thread can be started.
/// Lifetime: everything that sends or receives ends before the world. The destructor waits for all ranks.
/// Cost:     a thread. Whoever polls does so for 200 us after each event without a pause, then less and less
///           often: see `polling_options`. At rest 0.2 % of a core, 0.8 % while a coroutine waits.
class world : detail::only_one, detail::process, public communicator {
  public:
    /// Initialises MPI, unless the program has. Blocks until all ranks have begun their worlds.
    /// \param how  see `world_options`; the same on all ranks.
    explicit world(const world_options& how = {}) : process(how), communicator(process::all()) {}
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        if (std::uncaught_exceptions() > exceptions_) process::fail("an exception left the world's scope");
        process::leave();
    }

    /// Calls the function. If the function throws, prints this rank, and the failure of a rank that is known
    /// already. If none is known, or only this rank's without a reason, prints the exception instead, and
    /// tells the other ranks of it.
    /// \returns the status for `main`: 0, or 1 if the function threw.
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
        const bool is_first = process::must_report_failure();
        const std::string said = weir::detail::without_controls(is_first ? why.c_str() : failure()->what());
        std::fprintf(stderr, "rank %d %s: %s\n", rank(), is_first ? "failed" : "ends", said.c_str());
        if (is_first) process::fail(why);
        return 1;
    }

    /// Begins submitted operations, and ends those that are complete: see `world_options::own_thread`.
    /// \returns true if an operation has ended. Threads: any; with MPI_THREAD_FUNNELED, does nothing on a
    /// thread that may not call MPI.
    bool poll() noexcept { return process::loop()->poll(); }

    /// \returns the level of threads that MPI grants, one of `MPI_THREAD_...`.
    [[nodiscard]] int thread_level() const noexcept { return process::level(); }

    /// \returns the failure of a rank, or null. Lifetime: the world's. Threads: any.
    [[nodiscard]] const rank_failed* failure() const noexcept { return process::loop()->failure(); }

  private:
    const int exceptions_ = std::uncaught_exceptions();  // when the world was made: see the destructor
};

}  // namespace weir::mpi

#include <weir/mpi/world.ipp>

#endif
