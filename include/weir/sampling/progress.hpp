// weir sampling: records the draws that the consumer of one rank has taken
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

/// Records draws and makes checkpoints of them. The program calls `took` for each draw when the consumer
/// takes the result that was made of the draw. Draws come in any order, also across epochs. A draw that a
/// stage drops on purpose has to be recorded, too; otherwise the next run gives it again.
///
///     weir::progress done(sampler.start());
///     for (batch& b : run) {
///         for (const weir::draw& d : b.draws) done.took(d);
///         train(b);
///     }
///     save(done.checkpoint().to_bytes());
///
/// Threads: a value, like `int`.
/// Cost:    O(log k) time for a draw, O(k) memory, if k draws were taken out of order.
class progress {
  public:
    /// \param start  a sampler's `start()`, or an earlier checkpoint of the same rank and run.
    explicit progress(weir::checkpoint start);

    /// Records that the consumer took `d`. A padded draw changes nothing.
    /// Errors: as below.
    void took(const draw& d);

    /// The same by the position of a draw that is not padded.
    /// Errors: `std::invalid_argument` if the position was taken before, or is not this rank's. Nothing is
    ///         changed then.
    void took(std::uint64_t position);

    /// The checkpoint of the draws taken so far. Cost: O(k). Errors: `std::bad_alloc`.
    [[nodiscard]] weir::checkpoint checkpoint() const;

    /// The first position of this rank that was not taken; UINT64_MAX if the rank gets no more draws.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// The number of taken positions above `watermark()`.
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
