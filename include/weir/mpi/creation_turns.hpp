// weir mpi, internal: the order in which ranks create communicators
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_CREATION_TURNS_HPP
#define WEIR_MPI_CREATION_TURNS_HPP

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::find, std::min_element
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard, std::mutex
#include <vector>     // for std::vector

namespace weir::mpi::detail {

// Decides which communicator this rank creates next. MPI_Comm_create_group blocks a thread until all members
// have called the function. Two ranks that call this function for two communicators with the same members, in
// different orders, would deadlock. So each rank approves one creation at a time, and calls the function only
// after all ranks of the creation have approved it.
//
// The ranks of a creation first agree on a number: the greatest of the numbers that the ranks propose. A rank
// approves a creation under two conditions: the rank approves no other creation, and none of the rank's
// creations has a lower number. If a rank refuses, all ranks of the creation withdraw their approvals and ask
// again. In the end all ranks approve the creation with the lowest number. A creation delays other creations
// only on ranks that have agreed on its number.
//
// Threads: any.
class creation_turns {
  public:
    explicit creation_turns(int rank_in_world) noexcept : rank_(static_cast<unsigned>(rank_in_world)) {}

    // Returns a number that no rank of the job proposes again.
    std::uint64_t propose() {
        const std::lock_guard guard(lock_);
        return ++proposed_ << 32U | rank_;
    }

    // One creation on this rank. Exists from the agreement on the number until the communicator exists, or
    // has failed.
    class turn {
      public:
        turn(creation_turns& all, std::uint64_t number) : all_(all), number_(number) {
            const std::lock_guard guard(all_.lock_);
            all_.agreed_.push_back(number_);
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn() {
            withdraw();
            const std::lock_guard guard(all_.lock_);
            all_.agreed_.erase(std::find(all_.agreed_.begin(), all_.agreed_.end(), number_));
        }

        // Approves the creation if the conditions above are met; returns whether it is approved. This rank
        // then approves no other creation until `withdraw`.
        bool approve() {
            const std::lock_guard guard(all_.lock_);
            if (all_.approved_ == 0 && number_ == *std::min_element(all_.agreed_.begin(), all_.agreed_.end()))
                all_.approved_ = number_;
            return all_.approved_ == number_;
        }
        // Withdraws the approval, if this rank has approved the creation.
        void withdraw() {
            const std::lock_guard guard(all_.lock_);
            if (all_.approved_ == number_) all_.approved_ = 0;
        }

      private:
        creation_turns& all_;
        const std::uint64_t number_;
    };

  private:
    const std::uint64_t rank_;
    std::mutex lock_;
    std::uint64_t proposed_ = 0;
    std::uint64_t approved_ = 0;         // the number of the approved creation; 0: none
    std::vector<std::uint64_t> agreed_;  // the numbers of all turns
};

}  // namespace weir::mpi::detail

#endif
