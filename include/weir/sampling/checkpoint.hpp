// weir sampling: a record of the draws that consumers have taken, from which a later run continues
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_HPP
#define WEIR_SAMPLING_CHECKPOINT_HPP

#include <weir/platform/random_bits.hpp>
#include <weir/sampling/checkpoint_bytes.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/shard.hpp>
#include <weir/sampling/shard_partition.hpp>

#include <algorithm>  // for std::merge
#include <cstddef>    // for std::byte
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <vector>     // for std::vector

namespace weir {

/// The draws that the consumer of one rank has taken; after a merge, those of all ranks. The draws are the
/// rank's positions below `watermark()`, and the positions in `ahead()`. Draws that were produced but not
/// taken are not included.
///
///     weir::progress done(sampler.start());                      // each rank, while it runs
///     done.took(draw);
///     save(done.checkpoint().to_bytes());
///
///     auto all = weir::checkpoint::merge(those_of_all_ranks);    // later, with any number of ranks
///     weir::sampler next({.size = n, .seed = 7, .shard = mine, .resume = all});
///
/// A run keeps this record itself for some pipelines: see `run_control::checkpoint`. The ranks need not stop
/// at the same draw. A run and the run that resumes it together take each position exactly once. With
/// `tail::drop`, fewer than `world` positions of an epoch are never taken, however often it is interrupted.
///
/// Threads: a value, like `int`. Cost: 8 bytes of memory for each position out of order.
class checkpoint {
  public:
    /// The checkpoint of a run that has taken nothing yet. Samplers call this: see their `start()`.
    ///
    /// \param resume  a complete checkpoint of the earlier runs; empty: there are none.
    /// Errors: `std::invalid_argument` if `resume` has another sequence or is not complete, or if
    ///         `tail::drop` leaves no draw for any rank.
    [[nodiscard]] static checkpoint begin(const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                                          const std::optional<checkpoint>& resume = std::nullopt);

    /// The draws that all ranks of a run have taken. A run with any number of ranks can resume from this
    /// checkpoint. The checkpoint of a run with one rank is complete without a merge.
    ///
    /// \param ranks  one checkpoint of each rank, in any order.
    /// Errors: `std::invalid_argument` if a rank is missing or there twice, or if the checkpoints are of
    ///         different runs.
    /// Cost:   time and memory grow with the distance between the lowest and the highest watermark.
    [[nodiscard]] static checkpoint merge(std::span<const checkpoint> ranks);

    /// Whether a run can resume from this checkpoint: it was merged, or its run has one rank.
    [[nodiscard]] bool complete() const noexcept { return shard_.world() == 1; }

    [[nodiscard]] const draw_sequence& sequence() const noexcept { return sequence_; }  ///< of the draws
    [[nodiscard]] weir::shard shard() const noexcept { return shard_; }  ///< 0 of 1 if complete
    [[nodiscard]] weir::tail tail() const noexcept { return tail_; }     ///< exact if complete

    /// The first position of this rank that was not taken; UINT64_MAX if the rank gets no more draws.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// The positions above the watermark that were taken, ascending.
    [[nodiscard]] std::span<const std::uint64_t> ahead() const noexcept { return ahead_; }

    /// The checkpoint as bytes, the same on every platform: 63 bytes, and 1 to 8 for each position that was
    /// taken out of order. These are the positions in `ahead()`. Until the epoch in which the run
    /// was resumed is over, they include those that the earlier runs took out of order.
    /// Errors: `std::length_error` if 2^32 positions were taken out of order.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;

    /// \returns the checkpoint that `to_bytes` was called on.
    /// Errors: `std::invalid_argument` for anything else: bytes that are cut short, changed, of a later
    ///         version or no checkpoint.
    [[nodiscard]] static checkpoint from_bytes(std::span<const std::byte> bytes);

    [[nodiscard]] friend bool operator==(const checkpoint&, const checkpoint&) = default;

  private:
    friend class progress;
    template <class>
    friend class basic_sampler;
    using u64 = std::uint64_t;
    static constexpr u64 none = detail::shard_partition::none;

    explicit checkpoint(const draw_sequence& s) : sequence_(s) {}

    // The positions that this rank gets in this run; with an argument, those of another rank.
    detail::shard_partition partition() const { return partition(shard_.rank()); }
    detail::shard_partition partition(u64 rank) const;

    // The checkpoint of the same run when this rank has taken its positions below `watermark`, and those in
    // `ahead`, ascending.
    checkpoint at(u64 watermark, std::vector<u64> ahead) const;

    std::uint32_t digest_of_start() const noexcept;

    void check_resumable(const draw_sequence& other) const;

    static void check_same_run(std::span<const checkpoint> ranks);

    [[noreturn]] static void throw_impossible();

    // Whether a run can produce this checkpoint. Requires that the lists are ascending and have no position
    // below their start, `base_` or `watermark_`.
    bool possible() const;

    draw_sequence sequence_;
    weir::shard shard_ = {};
    weir::tail tail_ = tail::exact;
    std::uint32_t run_ = 0;  // a digest of the positions that were taken before this run
    u64 base_ = 0;           // positions below it were taken before this run, or their epoch is over
    u64 watermark_ = none;
    std::vector<u64> before_;  // the positions from base_ on that were taken before this run, ascending
    std::vector<u64> ahead_;   // the positions above watermark_ that were taken in this run, ascending
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/checkpoint.ipp>
#endif

#endif
