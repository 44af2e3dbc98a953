// Ranks in one process and on one thread, in an order that a seed decides.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MPI_SUPPORT_HPP
#define WEIR_TESTS_MPI_SUPPORT_HPP

#include "mpi/stand_in/machine.hpp"
#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/world.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace mpi_tests {

using weir::mpi::communicator;
using weir::mpi::world_options;

inline world_options without_thread() {
    world_options o;
    o.own_thread = false;
    o.failures.heartbeat = {};
    return o;
}

// Runs coroutines and polls ranks, one step at a time.
class steps final : public weir::executor {
  public:
    explicit steps(std::uint64_t seed) : random_(seed * 2 + 1) {}

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override { post(t.waiter()); }
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override {
        if (++num_steps_ > most_steps) throw std::runtime_error("the ranks wait for ever");
        const std::size_t choice = draw(ready_.size() + polled.size());
        if (choice < ready_.size()) {
            const std::coroutine_handle<> h = ready_[choice];
            ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(choice));
            num_steps_ = 0;
            resume(h);
        } else {
            stand_in::as(static_cast<int>(choice - ready_.size()));
            static_cast<void>(polled[choice - ready_.size()]->poll());
        }
        return true;
    }
    weir::time_point now() const noexcept override { return time ? *time : executor::now(); }
    std::size_t draw(std::size_t n) {
        random_ = random_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>((random_ >> 33U) % n);
    }

    std::vector<weir::mpi::detail::reactor*> polled;
    std::optional<weir::time_point> time;      // none: that of the platform
    static constexpr int most_steps = 20'000;  // without a coroutine that continues

  private:
    std::uint64_t random_;
    int num_steps_ = 0;
    std::vector<std::coroutine_handle<>> ready_;
};

// So many ranks. All that MPI forbids, and all that is left over, fails the test.
class cluster {
  public:
    explicit cluster(int ranks, std::uint64_t seed = 0, stand_in::settings how = {},
                     const world_options& options = without_thread())
        : all(seed), count_(ranks) {
        how.ranks = ranks;
        how.seed = seed;
        stand_in::reset(how);
        for (int r = 0; r < ranks; ++r) {
            stand_in::as(r);
            processes_.push_back(std::make_unique<weir::mpi::detail::process>(options));
            all.polled.push_back(processes_.back()->loop().get());
        }
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;
    ~cluster() {
        for (int r = 0; r < count_; ++r) {
            stand_in::as(r);
            processes_[static_cast<std::size_t>(r)].reset();
        }
        const stand_in::report found = stand_in::look();
        for (const auto& sentence : found.wrong) UNSCOPED_INFO(sentence);
        CHECK(found.wrong.empty());
        if (!is_broken) {
            CHECK(found.requests == 0);
            CHECK(found.messages == 0);
            CHECK(found.communicators == 0);
        }
    }

    weir::mpi::detail::process& at(int r) { return *processes_.at(static_cast<std::size_t>(r)); }
    communicator of(int r) { return communicator(at(r).all()); }

    // Runs a coroutine for each rank, until all have ended. Returns how many have thrown an `Error`.
    template <class Error = std::exception, class Function>
    int run(Function function) {
        int num_thrown = 0;
        const auto one = [&](communicator c) -> weir::task<> {
            try {
                co_await function(std::move(c));
            } catch (const Error& e) {
                message = e.what();
                ++num_thrown;
            }
        };
        std::vector<weir::task<>> tasks;
        for (int r = 0; r < count_; ++r) tasks.push_back(one(of(r)));
        weir::sync_wait(all, weir::when_all(std::move(tasks)));
        return num_thrown;
    }

    steps all;
    std::string message;     // of the last exception
    bool is_broken = false;  // requests and messages may be left over

  private:
    int count_;
    std::vector<std::unique_ptr<weir::mpi::detail::process>> processes_;
};

}  // namespace mpi_tests

#endif
