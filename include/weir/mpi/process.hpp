// weir mpi: MPI in this process, and the thread that initialises and finalises it; for `world`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_PROCESS_HPP
#define WEIR_MPI_PROCESS_HPP

#include <weir/mpi/awaited_call.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/group.hpp>
#include <weir/mpi/heartbeat.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/system_thread.hpp>

#include <mpi.h>

#include <exception>  // for std::exception
#include <memory>     // for std::make_shared, std::shared_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string

namespace weir::mpi {

/// The options of a `world`. The defaults are right for programs in which only weir calls MPI.
struct world_options {
    /// The level of threads that MPI is asked for. From MPI_THREAD_MULTIPLE on the program may call MPI, too.
    /// If MPI grants less than MPI_THREAD_SERIALIZED, the world's thread makes all calls of MPI.
    int threads = MPI_THREAD_MULTIPLE;
    /// False: the world has no thread; the constructing thread calls `poll` again and again, as an event loop
    /// does, and must not block.
    bool own_thread = true;
    polling_options polling = {};   ///< how often MPI is asked what is complete
    failure_options failures = {};  ///< how the ranks watch each other
};

namespace detail {

// MPI in this process, and the thread that initialises and finalises it.
class process {
  public:
    explicit process(const world_options& how)
        : how_(how), its_(std::make_shared<connection>(how.polling, how.own_thread)) {
        if (how.own_thread) {
            thread_ = weir::detail::system_thread([this] { run(); });
            while (!started_.wait()) {
            }
        } else {
            begin();
        }
        if (refused_.empty()) return;
        if (thread_.joinable()) thread_.join();
        throw std::logic_error("weir: " + refused_);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    ~process() {
        // release; pairs with connection::check_world() and ~group()
        its_->locked([this]() noexcept { its_->is_closed.store(true, std::memory_order_release); });
        if (how_.own_thread) {
            its_->end();
            thread_.join();
        } else {
            finish();
        }
    }

    const std::shared_ptr<connection>& its() const noexcept { return its_; }
    const std::shared_ptr<const group>& all() const noexcept { return all_; }
    int level() const noexcept { return level_; }

    // Tells all ranks that this one has failed. Blocks until a thread that may call MPI has done so.
    void fail(const std::string& why) {
        do_there("MPI_Isend", [&](MPI_Request&) {
            health_->fail(all_->rank, why);
            return MPI_SUCCESS;
        });
    }
    // Returns when all ranks have called it, and none has failed; otherwise the process ends.
    void leave() noexcept {
        for (int i = 0; i < 2; ++i) {  // the second barrier ends when no rank sends heartbeats any more
            do_there("MPI_Ibarrier", [&](MPI_Request& r) noexcept { return MPI_Ibarrier(control_, &r); });
            do_there("MPI_Wait", [&](MPI_Request&) noexcept { return health_->stop(); });
        }
        if (its_->failure() == nullptr) return;
        health_->leave();
        for (weir::detail::parker never;;) its_->wait(never);
    }

  private:
    // Calls the function on a thread that may call MPI, and blocks until the operation that it begins is
    // over. `name`: that of the MPI function. If this fails, so has this rank: tells all ranks.
    template <class Function>
    void do_there(const char* name, Function function) {
        class one_call final : public operation {
          public:
            one_call(const char* name, Function& f) noexcept : operation(name, any_rank, false), call_(f) {}
            weir::detail::parker done;

          private:
            int begin(MPI_Request& request, bool&) noexcept override { return call_(request); }
            void ended() noexcept override { done.set(); }
            Function& call_;
        };
        one_call o(name, function);
        its_->submit(o);
        while (!o.done.is_set()) its_->wait(o.done);
        its_->locked([&]() noexcept {  // when the thread that set the flag has left the object
            if (o.error_class() != MPI_SUCCESS) its_->report(error(o.error_class(), name).what());
        });
    }
    void run() noexcept {
        standard_platform::name_thread("weir-mpi");
        weir::detail::end_waits_on_time();
        begin();
        const bool is_refused = !refused_.empty();
        started_.set();
        if (is_refused) return;
        its_->run();
        finish();
    }

    void begin() noexcept try {
        int is_initialised = 0;
        int is_finalised = 0;
        if (MPI_Initialized(&is_initialised) != MPI_SUCCESS) return refuse("MPI_Initialized failed");
        if (MPI_Finalized(&is_finalised) != MPI_SUCCESS) return refuse("MPI_Finalized failed");
        if (is_finalised != 0)
            return refuse(
                "MPI was finalised in this process, and can't begin again; keep one "
                "world for the whole program");
        finalises_ = is_initialised == 0;
        if (finalises_) {
            if (MPI_Init_thread(nullptr, nullptr, how_.threads, &level_) != MPI_SUCCESS)
                return refuse("MPI_Init_thread failed");
        } else {
            demand(MPI_Query_thread(&level_), "MPI_Query_thread");
        }
        const int needed = finalises_ || !how_.own_thread ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
        if (level_ < needed) {
            if (finalises_) MPI_Finalize();
            return refuse(finalises_
                              ? "this MPI knows no threads: it grants only MPI_THREAD_SINGLE"
                              : "MPI was initialised by the program for one thread only, and a world has "
                                "its own: let the world initialise MPI, or ask MPI_Init_thread for "
                                "MPI_THREAD_SERIALIZED");
        }
        its_->set_thread(level_ < MPI_THREAD_SERIALIZED);
        MPI_Comm all = MPI_COMM_NULL;
        MPI_Comm apart = MPI_COMM_NULL;
        demand(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        demand(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
        all_ = std::make_shared<const group>(its_, all);
        demand(MPI_Comm_dup(MPI_COMM_WORLD, &apart), "MPI_Comm_dup");
        demand(MPI_Comm_set_errhandler(apart, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        control_ = apart;
        health_.emplace(*its_, apart, how_.failures);
        its_->set_periodic(&*health_);
    } catch (const error& e) {
        refuse(std::string(e.call()) + " failed: " + e.code().message());
    } catch (const std::exception& e) {
        refuse(e.what());
    }
    void refuse(const std::string& why) { refused_ = why; }

    void finish() noexcept {
        its_->locked([this]() noexcept { its_->set_periodic(nullptr); });
        MPI_Comm all = all_->comm;
        MPI_Comm_free(&all);
        MPI_Comm_free(&control_);
        if (finalises_) MPI_Finalize();
    }

    const world_options how_;
    const std::shared_ptr<connection> its_;
    std::shared_ptr<const group> all_;
    std::optional<heartbeat> health_;
    MPI_Comm control_ = MPI_COMM_NULL;
    int level_ = MPI_THREAD_SINGLE;
    bool finalises_ = false;
    std::string refused_;
    weir::detail::parker started_;
    weir::detail::system_thread thread_;
};

}  // namespace detail

}  // namespace weir::mpi

#endif
