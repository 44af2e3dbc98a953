// weir mpi: how ranks hear of the failure of a rank, and end together
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_HEARTBEAT_HPP
#define WEIR_MPI_HEARTBEAT_HPP

#include <weir/measure/clock.hpp>
#include <weir/mpi/awaited_call.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/numbers.hpp>

#include <mpi.h>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <cstdio>   // for std::fflush
#include <memory>   // for std::make_shared
#include <string>   // for std::string
#include <utility>  // for std::exchange
#include <vector>   // for std::vector

namespace weir::mpi {

/// How the ranks watch each other. With a `heartbeat` of 0, silent ranks are not found.
struct failure_options {
    /// Interval of messages to the next rank, at most half of `dead_after`; 0: none.
    duration heartbeat = std::chrono::seconds(1);
    /// A rank that is not heard of for this long has failed. Time in which the rank that listens was stopped
    /// itself, as by Ctrl-Z, counts as a quarter of `dead_after` at most.
    duration dead_after = std::chrono::seconds(30);
    duration grace = std::chrono::seconds(5);  ///< after a failure: time for all ranks to clean up and print
    int status = 1;                            ///< of the job, after a failure
};

namespace detail {

// Finds ranks that have failed, and ends the job after a failure. Each rank sends a heartbeat to the next
// rank, and the last rank to rank 0. A rank that fails, or finds that the rank before it is silent, tells all
// others. Then all operations end with `rank_failed`. When all ranks except the failed one have called
// leave(), or the grace is over, the leader calls MPI_Abort: the lowest rank that has not failed. The others
// call MPI_Abort after twice the grace.
//
// All but the constructor and `leave` are called under the lock of the reactor, which polls MPI. A function
// that calls MPI is called on a thread that may do so.
class heartbeat final : public periodic_work {
    enum tags : int { beat, failure, leaving };  // of the three kinds of messages

  public:
    // `comm`: a duplicate of the world's, for this object alone.
    // Errors: `error`.
    heartbeat(reactor& of, MPI_Comm comm, const failure_options& how) : loop_(of), comm_(comm), how_(how) {
        check_call(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
        check_call(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
        ticked_ = next_beat_ = standard_platform::now();
    }
    ~heartbeat() = default;

    // Tells all other ranks that `rank` has failed, this rank or the rank before it, and ends all operations
    // here with `rank_failed`. If a failure is known already, does nothing.
    void fail(int rank, const std::string& why) {
        if (loop_.failure() != nullptr) return;
        prepare_notices(rank, why);
        tell_untold();
        give_up(rank, why);
    }
    // Called when this rank has failed, on any thread: ends all operations here, makes no call of MPI. The
    // next tick() tells the other ranks. If an exception that is not caught yet destroys an object that other
    // ranks wait for, `why` is empty: then the first tick() after explain(), or else after a second, does so.
    void abandon(const std::string& why) override {
        if (loop_.failure() != nullptr) return;
        if (why.empty()) {
            abandoned_at_ = standard_platform::now();
        } else {
            prepare_notices(rank_, why);
        }
        give_up(rank_, why.empty() ? unexplained : why);
    }
    bool awaits_reason() const noexcept { return abandoned_at_ != 0; }
    // Sets the reason of abandon(). Does nothing without a call of abandon(), or if the other ranks were told
    // already. Makes no call of MPI: tick() sends the reason.
    void explain(const std::string& why) {
        if (std::exchange(abandoned_at_, 0) != 0) prepare_notices(rank_, why);
    }

    void fail_here(const std::string& why) override { fail(rank_, why); }

    // Records that the work of this rank has ended after a failure. Called by any thread. relaxed: no other
    // data is passed on
    void leave() noexcept { has_left_.store(true, std::memory_order_relaxed); }

    // Called by the reactor: receives messages, sends the heartbeat if it is due, and ends the job after a
    // failure. Returns when to call tick() again, in ns.
    std::int64_t tick(std::int64_t now) noexcept override {
        receive_all();
        if (loop_.failure() != nullptr) return end_together(now);
        // A long time since the last call probably means that this process was stopped, as the others may
        // have been: so this time counts up to a limit. If it did not count, a program that polls rarely
        // would never find a silent rank.
        silence_ += weir::detail::smaller<std::int64_t>(now - std::exchange(ticked_, now),
                                                        how_.dead_after.count() / 4);
        if (std::exchange(was_heard_, false)) silence_ = 0;
        if (how_.heartbeat.count() <= 0 || size_ == 1 || has_stopped_) return now + interval;
        if (now >= next_beat_) {
            next_beat_ = now + weir::detail::smaller(how_.heartbeat, how_.dead_after / 2).count();
            int is_sent = beat_ == MPI_REQUEST_NULL ? 1 : 0;
            if (is_sent == 0) MPI_Test(&beat_, &is_sent, MPI_STATUS_IGNORE);
            if (is_sent != 0) MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + 1) % size_, beat, comm_, &beat_);
        }
        if (silence_ > how_.dead_after.count()) {
            const auto milliseconds = std::to_string(how_.dead_after / std::chrono::milliseconds(1));
            fail((rank_ + size_ - 1) % size_,
                 "it was not heard of for " + milliseconds + " ms: it hangs, or is dead");
        }
        return now + interval;
    }

    // Sends no heartbeat from now on, and expects none: all ranks have ended their work without a failure.
    int stop() noexcept {
        has_stopped_ = true;
        return MPI_Wait(&beat_, MPI_STATUS_IGNORE);  // returns soon: the next rank still receives
    }

  private:
    // At most so many characters of a reason are sent: MPI usually sends so few without a wait.
    static constexpr std::size_t longest = 2000;
    // The time between two calls of tick(), in ns. A look for messages takes MPI as long as a poll for all
    // operations: so not each poll calls tick().
    static constexpr std::int64_t interval = 1'000'000;

    static constexpr const char* unexplained =
        "an exception has destroyed a channel or a rank_report, or has ended a run that puts into a channel";

    // Sets the text about the failure of `rank`, and the ranks to be told.
    void prepare_notices(int rank, const std::string& why) {
        failure_text_ = std::to_string(rank) + ' ' + why.substr(0, longest);
        for (int r = 0; r < size_; ++r) {
            if (r != rank_ && r != rank) untold_.push_back(r);
        }
    }

    // The lowest rank that has not failed: it ends the job.
    int leader() const noexcept { return loop_.failure()->rank() == 0 ? 1 : 0; }

    // Ends all operations of this rank with `rank_failed`.
    void give_up(int rank, const std::string& why) {
        loop_.fail(std::make_shared<const rank_failed>(rank, why));
    }

    // Sends the text about the failure to all ranks that have still to be told.
    void tell_untold() noexcept {
        std::erase_if(untold_, [this](int rank) {
            return send(failure, rank, failure_text_.data(), static_cast<int>(failure_text_.size()));
        });
    }
    // Returns whether the send has begun; if not, the next call of tick() tries again.
    bool send(tags tag, int to, const char* text, int size) {
        MPI_Request begun = MPI_REQUEST_NULL;
        if (MPI_Isend(text, size, MPI_CHAR, to, tag, comm_, &begun) != MPI_SUCCESS) return false;
        sends_.push_back(begun);
        return true;
    }

    // If a call of MPI fails, the next call of tick() repeats it.
    void receive_all() noexcept {
        for (;;) {
            int is_there = 0;
            int size = 0;
            char text[longest + 16];
            MPI_Status status{};
            int code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, &status);
            if (code != MPI_SUCCESS || is_there == 0) return;
            code = MPI_Get_count(&status, MPI_CHAR, &size);
            if (code != MPI_SUCCESS) return;
            code = MPI_Recv(text, size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm_, &status);
            if (code != MPI_SUCCESS) return;
            if (status.MPI_TAG == beat) {
                was_heard_ = true;
            } else if (status.MPI_TAG == leaving) {
                if (loop_.failure() == nullptr || status.MPI_SOURCE != loop_.failure()->rank())
                    ++num_leavers_;
            } else if (loop_.failure() == nullptr) {
                const std::string said(text, static_cast<std::size_t>(size));
                const std::size_t blank = said.find(' ');
                give_up(std::stoi(said), said.substr(blank + 1));
            }
        }
    }

    // Called by tick() after a failure. Returns when to call tick() again, in ns; or ends the process by
    // MPI_Abort.
    std::int64_t end_together(std::int64_t now) noexcept {
        if (abandoned_at_ != 0) {
            if (now - abandoned_at_ < 1'000'000'000) return now + interval;
            explain(unexplained);
        }
        if (failed_at_ == 0) failed_at_ = now;
        const bool leads = rank_ == leader() || size_ == 1;
        const bool has_left = has_left_.load(std::memory_order_relaxed);  // see leave()
        tell_untold();
        if (has_left && !leads && !told_) told_ = send(leaving, leader(), nullptr, 0);
        int are_sent = 0;
        MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &are_sent, MPI_STATUSES_IGNORE);
        const bool have_left = has_left && num_leavers_ >= size_ - 2;  // without this rank and the failed one
        const bool is_late = (now - failed_at_) / (leads ? 1 : 2) > how_.grace.count();
        if ((leads && have_left && are_sent != 0 && untold_.empty()) || is_late) {
            std::fflush(nullptr);
            MPI_Abort(MPI_COMM_WORLD, how_.status);
        }
        return now + interval;
    }

    reactor& loop_;
    const MPI_Comm comm_;
    const failure_options how_;
    int rank_ = 0;
    int size_ = 1;
    std::int64_t ticked_ = 0;        // when tick() was called last
    std::int64_t silence_ = 0;       // for how long the rank before this one was not heard of; see tick()
    bool was_heard_ = false;         // the rank before this one was heard of since the last call of tick()
    std::int64_t next_beat_ = 0;     // when the next heartbeat is due
    std::int64_t abandoned_at_ = 0;  // 0: no call of abandon(), or explained
    std::int64_t failed_at_ = 0;     // when this rank saw a failure; 0: none
    standard_platform::atomic<bool> has_left_{false};  // leave() was called
    bool has_stopped_ = false;                         // stop() was called
    bool told_ = false;                                // the leader was told that this rank has left
    int num_leavers_ = 0;                              // ranks that have told this one that they have left
    MPI_Request beat_ = MPI_REQUEST_NULL;              // the send of the last heartbeat
    std::string failure_text_;        // the number of the failed rank, and the reason, for the other ranks
    std::vector<int> untold_;         // ranks that have still to be told of the failure
    std::vector<MPI_Request> sends_;  // of notices about a failure, which may be pending
};

}  // namespace detail

}  // namespace weir::mpi

#endif
