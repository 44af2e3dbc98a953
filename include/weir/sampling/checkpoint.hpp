// weir sampling: draws, and a record of those that consumers have taken, from which a later run continues
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_HPP
#define WEIR_SAMPLING_CHECKPOINT_HPP

#include <weir/platform/numbers.hpp>
#include <weir/sampling/shard.hpp>

#include <algorithm>  // for std::merge
#include <cstddef>    // for std::byte, std::size_t
#include <cstdint>    // for std::uint64_t
#include <optional>   // for std::optional
#include <set>        // for std::set
#include <span>       // for std::span
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir {

/// One sample, chosen by a sampler.
struct draw {
    /// The number of the draw among those of all ranks (processes) and epochs (passes over the data):
    /// epoch * size + place in the epoch. A checkpoint is a set of positions. A padded draw has the position
    /// of the draw that it repeats.
    std::uint64_t position = 0;
    std::uint64_t index = 0;  ///< the index of the sample
    std::uint64_t epoch = 0;  ///< the number of the epoch, from 0
    bool padded = false;      ///< repeats another draw, so that all ranks get equally many: see `tail::pad`

    constexpr draw() noexcept = default;
    /// The members in their order: position, index, epoch and `padded`.
    constexpr draw(std::uint64_t at, std::uint64_t what, std::uint64_t in_epoch, bool extra) noexcept
        : position(at), index{what}, epoch(in_epoch), padded(extra) {}

    [[nodiscard]] friend constexpr bool operator==(const draw&, const draw&) = default;
};

/// How the indices of an epoch are chosen.
enum class draw_order : std::uint8_t {
    sequential,  ///< 0, 1, 2, ..., and after the last index again from 0
    permuted,    ///< each index once before any comes again, in another order in each epoch
    weighted     ///< at random by weight, with repetition
};

/// The parameters of a sequence of draws. Sequences with equal parameters have the same index at each
/// position, on all ranks.
struct draw_sequence {
    draw_order order = draw_order::permuted;  ///< the order of the indices in an epoch
    /// A checksum of the weights. Without weights: 0 if the number of indices is `size`, else a checksum of
    /// this number.
    std::uint32_t weights = 0;
    std::uint64_t size = 0;  ///< positions in an epoch
    std::uint64_t seed = 0;  ///< of all random choices (0 is a seed like any other); not used if `sequential`

    [[nodiscard]] friend constexpr bool operator==(const draw_sequence&, const draw_sequence&) = default;
};

/// The draws that the consumer of one rank (process) has taken; after a merge, those of all ranks. The draws
/// are the rank's positions below `watermark()`, and the positions in `ahead()`. Draws that were produced but
/// not taken are not included.
///
///     weir::progress done(sampler.start());                      // each rank, while it runs
///     done.took(draw);
///     save(done.checkpoint().to_bytes());
///
///     auto all = weir::checkpoint::merge(those_of_all_ranks);    // later, with any number of ranks
///     weir::sampler next({.size = n, .seed = 7, .shard = mine, .resume = all});
///
/// For some pipelines the run itself keeps the checkpoint: see `run_control::checkpoint`. The ranks need not
/// stop at the same draw. A run and the run that resumes it together take each position exactly once. With
/// `tail::drop`, some positions of an epoch, fewer than there are ranks, are never taken, however often the
/// epoch is interrupted.
///
/// Threads: a value, like `int`. Cost: 8 bytes of memory for each position out of order.
class checkpoint {
  public:
    /// The checkpoint of a run that has taken nothing yet. Samplers call this: see their `start()`.
    ///
    /// \param shard   the rank that takes draws, and the number of ranks.
    /// \param tail    what happens to the last draws of an epoch if there are fewer of them than ranks.
    /// \param resume  a complete checkpoint of the earlier runs; empty: there are none.
    /// Errors: `std::invalid_argument` if `resume` has another sequence or is not complete, or if
    ///         `tail::drop` omits all draws of an epoch. A sequence without draws is no error.
    [[nodiscard]] static checkpoint begin(const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                                          const std::optional<checkpoint>& resume = std::nullopt);

    /// \returns the draws that all ranks of a run have taken: a checkpoint from which a run with any number
    ///          of ranks can resume. The checkpoint of a run with one rank is complete without a merge.
    ///
    /// \param ranks  one checkpoint of each rank, in any order.
    /// Errors: `std::invalid_argument` if a rank is missing or there twice, or if the checkpoints are of runs
    ///         that differ in the number of ranks, the sequence, the `tail` or the draws taken before.
    /// Cost:   time and memory grow with the distance between the lowest and the highest watermark.
    [[nodiscard]] static checkpoint merge(std::span<const checkpoint> ranks);

    /// Whether a run can resume from this checkpoint: it was merged, or its run has one rank.
    [[nodiscard]] bool complete() const noexcept { return shard_.world() == 1; }

    /// The parameters of the sequence of draws.
    [[nodiscard]] const draw_sequence& sequence() const noexcept { return sequence_; }
    [[nodiscard]] weir::shard shard() const noexcept { return shard_; }  ///< the rank; 0 of 1 if complete
    [[nodiscard]] weir::tail tail() const noexcept { return tail_; }     ///< `tail::exact` if complete

    /// The first position of this rank that was not taken; UINT64_MAX if the rank gets no more draws.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// The positions above the watermark that were taken, ascending. In the checkpoint of one rank of
    /// several, only those of this run, not of the runs before it.
    [[nodiscard]] std::span<const std::uint64_t> ahead() const noexcept { return ahead_; }

    /// The checkpoint as bytes, the same on every platform: 63 bytes, and 1 to 8 bytes for each position that
    /// was taken out of order: those of `ahead()`, and, until the epoch in which the run was resumed is over,
    /// those that earlier runs took.
    /// Errors: `std::length_error` if 2^32 positions were taken out of order.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;

    /// \returns the checkpoint whose `to_bytes` gave these bytes.
    /// Errors: `std::invalid_argument` for other bytes: cut short, changed, of a later version, or no
    ///         checkpoint.
    [[nodiscard]] static checkpoint from_bytes(std::span<const std::byte> bytes);

    [[nodiscard]] friend bool operator==(const checkpoint&, const checkpoint&) = default;

  private:
    friend class progress;
    template <class>
    friend class basic_sampler;
    using u64 = std::uint64_t;
    static constexpr u64 none = detail::shard_partition::none;

    explicit checkpoint(const draw_sequence& s) : sequence_(s) {}

    // The positions that this rank, or the rank `rank`, gets in this run.
    detail::shard_partition partition() const { return partition(shard_.rank()); }
    detail::shard_partition partition(u64 rank) const;

    // The checkpoint of the same run when this rank has taken its positions below `watermark`, and those in
    // `ahead`, ascending.
    checkpoint at(u64 watermark, std::vector<u64> ahead) const;

    // Computes `run_`.
    std::uint32_t digest_of_start() const noexcept;

    void check_resumable(const draw_sequence& other) const;

    static void check_same_run(std::span<const checkpoint> ranks);

    [[noreturn]] static void throw_impossible();

    // Whether a run can produce this checkpoint. Requires that both lists ascend: `before_` from `base_` on,
    // `ahead_` above `watermark_`.
    bool possible() const;

    draw_sequence sequence_;
    weir::shard shard_ = {};
    weir::tail tail_ = tail::exact;
    std::uint32_t run_ = 0;  // a digest of the positions that were taken before this run; 0 if complete
    // Positions below `base_` were taken before this run, or their epoch is over. In a complete checkpoint,
    // `base_` equals `watermark_`.
    u64 base_ = 0;
    u64 watermark_ = none;
    // The positions from `base_` on that were taken before this run, ascending. Empty in a complete
    // checkpoint.
    std::vector<u64> before_;
    // The positions above `watermark_` that this run took, ascending. In a complete checkpoint, also the
    // positions above `watermark_` that earlier runs took.
    std::vector<u64> ahead_;
};

/// Records draws and makes checkpoints of them. The program calls `took` for each draw when the consumer
/// takes the item that was made from the draw. Draws come in any order, also across epochs. A draw that a
/// stage drops on purpose has to be recorded, too; else the next run gives the draw again.
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
    /// Errors: those of `took(position)`.
    void took(const draw& d);

    /// Records that the consumer took the draw at this position, which is not padded.
    /// Errors: `std::invalid_argument` if this run or an earlier one has taken the position, or if the
    ///         position is dealt to another rank or to none. Nothing is changed then.
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
#include <weir/sampling/checkpoint.ipp>
#endif

#endif
