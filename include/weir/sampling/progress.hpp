// weir sampling: keeps the books of what one rank's consumer has taken
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_PROGRESS_HPP
#define WEIR_SAMPLING_PROGRESS_HPP

#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/shard_partition.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <set>        // for std::set
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Told of each draw when the consumer takes what was made of it, in any order and of any epoch; gives
/// a checkpoint at any time. What a stage left out for good has to be told of too, or else it is given
/// again after the resumption.
///
///     weir::progress done(sampler.start());
///     for (batch& b : run) {
///         for (const weir::draw& d : b.draws) done.took(d);
///         train(b);
///     }
///     save(done.checkpoint().to_bytes());
///
/// Threads: a value, like `int`.
/// Cost:    O(log k) in time for a draw, O(k) in memory, where k were taken out of order.
class progress {
  public:
    /// \param start  a sampler's `start()`, or an earlier checkpoint of the same rank and run.
    explicit progress(weir::checkpoint start)
        : start_(std::move(start)), partition_(start_.partition()), watermark_(start_.watermark()),
          ahead_(start_.ahead().begin(), start_.ahead().end()) {}

    /// The consumer took it. A padded draw changes nothing.
    /// Errors: as below.
    void took(const draw& d) {
        if (!d.padded) took(d.position);
    }

    /// The same of a draw that is not padded.
    /// Errors: `std::invalid_argument`, and nothing is changed, if the position was taken before, or is
    ///         not this rank's.
    void took(std::uint64_t position) {
        if (position != watermark_) {
            if (!partition_.owns(position)) refuse(position, "it is not dealt to this rank in this run");
            if (position < watermark_ || !ahead_.insert(position).second) {
                refuse(position, "it was taken before");
            }
            return;
        }
        if (position == detail::shard_partition::none) refuse(position, "there is no such position");
        watermark_ = partition_.next_own(position + 1);
        while (!ahead_.empty() && *ahead_.begin() == watermark_) {
            ahead_.erase(ahead_.begin());
            watermark_ = partition_.next_own(watermark_ + 1);
        }
    }

    /// What was taken up to now. Cost: O(k). Errors: `std::bad_alloc`.
    [[nodiscard]] weir::checkpoint checkpoint() const {
        return start_.at(watermark_, std::vector<std::uint64_t>(ahead_.begin(), ahead_.end()));
    }

    /// The first position of this rank that was not taken; UINT64_MAX if it never gets another one.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// How many positions above that were taken.
    [[nodiscard]] std::size_t num_ahead() const noexcept { return ahead_.size(); }

  private:
    [[noreturn]] void refuse(std::uint64_t position, const char* why) const {
        throw std::invalid_argument("weir: rank " + std::to_string(start_.shard().rank()) + " of " +
                                    std::to_string(start_.shard().world()) + " can't take position " +
                                    std::to_string(position) + ": " + why);
    }

    weir::checkpoint start_;
    detail::shard_partition partition_;
    std::uint64_t watermark_;
    std::set<std::uint64_t> ahead_;
};

}  // namespace weir

#endif
