// Ranks in one process and on one thread, each with an executor, in an order and at times that a seed decides.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MPI_CHAOS_RANKS_HPP
#define WEIR_TESTS_MPI_CHAOS_RANKS_HPP

#include "mpi/stand_in/machine.hpp"

#include <weir/platform/tick_clock.hpp>

#include <cstdint>

namespace chaos {
inline std::int64_t time_now = 1;
}

// The clock of the whole program. Before all that reads it.
namespace weir::detail {
template <>
inline std::int64_t basic_tick_clock<>::now() noexcept {
    return chaos::time_now;
}
}  // namespace weir::detail

#include <weir/executor/executor.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/world.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chaos {

using weir::mpi::communicator;
using weir::mpi::detail::process;

class random_numbers {
  public:
    explicit random_numbers(std::uint64_t seed) : state_(seed * 2 + 1) {
        for (int i = 0; i < 4; ++i) up_to(1);
    }
    std::size_t up_to(std::size_t n) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>((state_ >> 33U) % (n + 1));
    }
    std::size_t from_to(std::size_t least, std::size_t most) { return least + up_to(most - least); }
    bool one_in(std::size_t n) { return up_to(n - 1) == 0; }

  private:
    std::uint64_t state_;
};

class rank_set;

// Of one rank.
class rank_loop final : public weir::executor {
  public:
    explicit rank_loop(rank_set& of) : of_(of) {}

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override { post(t.waiter()); }
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override;

    std::size_t num_ready() const { return ready_.size(); }
    void resume_one(std::size_t choice) {
        const std::coroutine_handle<> h = ready_[choice];
        ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(choice));
        resume(h);
    }

  private:
    rank_set& of_;
    std::vector<std::coroutine_handle<>> ready_;
};

// All ranks. A run that waits for ever ends the program with a sentence.
class rank_set {
  public:
    // Errors: those of `world`.
    rank_set(std::uint64_t seed, int ranks, const weir::mpi::world_options& options)
        : seed_(seed), random_(seed) {
        try {
            for (int r = 0; r < ranks; ++r) {
                stand_in::as(r);
                loops_.push_back(std::make_unique<rank_loop>(*this));
                processes_.push_back(std::make_unique<process>(options));
            }
        } catch (...) {
            end();
            throw;
        }
    }
    rank_set(const rank_set&) = delete;
    rank_set& operator=(const rank_set&) = delete;
    ~rank_set() { end(); }

    int size() const { return static_cast<int>(processes_.size()); }
    process& at(int r) { return *processes_[static_cast<std::size_t>(r)]; }
    rank_loop& loop(int r) { return *loops_[static_cast<std::size_t>(r)]; }
    communicator of(int r) { return communicator(at(r).all()); }
    random_numbers& random() { return random_; }
    std::string failure(int r) {
        const weir::mpi::rank_failed* const f = at(r).loop()->failure();
        return f == nullptr ? "" : f->what();
    }

    // From now on this rank does nothing.
    void silence(int rank) { silent_ = rank; }
    void wake() { silent_ = -1; }

    // One of the ranks that are not silent continues with a coroutine, or polls.
    void step() {
        if (++num_idle_ > most_idle) waits_for_ever();
        const int rank = static_cast<int>(random_.up_to(processes_.size() - 1));
        if (rank == silent_) return;
        rank_loop& l = loop(rank);
        const std::size_t choice = random_.up_to(l.num_ready());
        stand_in::as(rank);
        if (choice == l.num_ready()) {
            time_now += static_cast<std::int64_t>(random_.up_to(num_idle_ < 50 ? 20'000 : 1'000'000));
            static_cast<void>(at(rank).loop()->poll());
        } else {
            num_idle_ = 0;
            time_now += static_cast<std::int64_t>(random_.up_to(20'000));
            l.resume_one(choice);
        }
    }

    template <class Condition>
    void run_until(Condition is_over) {
        while (!is_over()) step();
    }

    // While a destructor of one rank blocks, the others poll.
    void let_others_poll() {
        stand_in::during_calls([this] {
            if (++num_idle_ > most_idle) waits_for_ever();
            for (const auto& p : processes_) static_cast<void>(p->loop()->poll());
        });
    }

  private:
    static constexpr int most_idle = 30'000;  // steps without a coroutine that continues

    void end() {
        for (std::size_t r = 0; r < processes_.size(); ++r) {
            stand_in::as(static_cast<int>(r));
            processes_[r].reset();
        }
    }
    [[noreturn]] void waits_for_ever() {
        std::printf("seed %llu FAILED:\nthe ranks wait for ever\n", static_cast<unsigned long long>(seed_));
        for (const auto& each : stand_in::failed()) std::printf("%s failed\n", each.function.c_str());
        for (int r = 0; r < size(); ++r) std::printf("rank %d heard: %s\n", r, failure(r).c_str());
        std::fflush(stdout);
        std::_Exit(1);
    }

    std::uint64_t seed_;
    random_numbers random_;
    std::vector<std::unique_ptr<rank_loop>> loops_;
    std::vector<std::unique_ptr<process>> processes_;
    int silent_ = -1;
    int num_idle_ = 0;
};

inline bool rank_loop::drive(flag&, weir::time_point) {
    of_.step();
    return true;
}

}  // namespace chaos

#endif
