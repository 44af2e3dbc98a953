// weir sampling: keeps the books of what one rank's consumer has taken
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_PROGRESS_HPP
#define WEIR_SAMPLING_PROGRESS_HPP

#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/shard_partition.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <set>      // for std::set
#include <string>   // for std::string

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
    explicit progress(weir::checkpoint start);

    /// The consumer took it. A padded draw changes nothing.
    /// Errors: as below.
    void took(const draw& d);

    /// The same of a draw that is not padded.
    /// Errors: `std::invalid_argument`, and nothing is changed, if the position was taken before, or is
    ///         not this rank's.
    void took(std::uint64_t position);

    /// What was taken up to now. Cost: O(k). Errors: `std::bad_alloc`.
    [[nodiscard]] weir::checkpoint checkpoint() const;

    /// The first position of this rank that was not taken; UINT64_MAX if it never gets another one.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// How many positions above that were taken.
    [[nodiscard]] std::size_t num_ahead() const noexcept { return ahead_.size(); }

  private:
    [[noreturn]] void refuse(std::uint64_t position, const char* why) const;

    weir::checkpoint start_;
    detail::shard_partition partition_;
    std::uint64_t watermark_;
    std::set<std::uint64_t> ahead_;
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/progress.ipp>
#endif

#endif
