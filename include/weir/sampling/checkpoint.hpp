// weir sampling: what consumers took of a sequence of draws, and from where a later run goes on
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

/// What one rank's consumer took, or, merged, what all of them took: every position that is this rank's
/// and below `watermark()`, and those in `ahead()`. What was produced and not taken is not in it.
///
///     weir::progress done(sampler.start());                      // each rank, while it runs
///     done.took(draw);
///     save(done.checkpoint().to_bytes());
///
///     auto all = weir::checkpoint::merge(those_of_all_ranks);    // later, with any number of ranks
///     weir::sampler next({.size = n, .seed = 7, .shard = mine, .resume = all});
///
/// A run keeps these books itself: see `run_control::checkpoint`, which says for which pipelines.
/// The ranks need not stop at the same draw. Together with what the next run gives, each position is
/// taken exactly once; with `tail::drop` fewer than `world` of an epoch never are, however often that
/// is interrupted.
///
/// Threads: a value, like `int`. Cost: 8 bytes of memory for each position out of order.
class checkpoint {
  public:
    /// Of a run that has taken nothing yet. Samplers call this: see their `start()`.
    ///
    /// \param resume  a complete checkpoint of what was taken before, if anything was.
    /// Errors: `std::invalid_argument` if that is of another sequence, or not complete.
    [[nodiscard]] static checkpoint begin(const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                                          const std::optional<checkpoint>& resume = std::nullopt);

    /// What all ranks of a run took, to resume from with any number of ranks. The checkpoint of a single
    /// rank is complete by itself.
    ///
    /// \param ranks  one of each rank, in any order.
    /// Errors: `std::invalid_argument` if some rank is missing or there twice, or they are of
    ///         different runs.
    /// Cost:   in time and memory by how far the ranks are apart.
    [[nodiscard]] static checkpoint merge(std::span<const checkpoint> ranks);

    /// Whether it can be resumed from: it is merged, or of a run with one rank.
    [[nodiscard]] bool complete() const noexcept { return shard_.world() == 1; }

    [[nodiscard]] const draw_sequence& sequence() const noexcept { return sequence_; }  ///< of its draws
    [[nodiscard]] weir::shard shard() const noexcept { return shard_; }  ///< 0 of 1 if complete
    [[nodiscard]] weir::tail tail() const noexcept { return tail_; }     ///< exact if complete

    /// The first position of this rank that was not taken; UINT64_MAX if it never gets another one.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }

    /// The positions above the watermark that were taken, ascending.
    [[nodiscard]] std::span<const std::uint64_t> ahead() const noexcept { return ahead_; }

    /// 63 bytes, and of each position that is out of order the distance to the one before, in 1 to 8
    /// bytes, the same on every platform: of those taken ahead, and, until the epoch in which a run was
    /// resumed is over, of those taken ahead before that.
    /// Errors: `std::length_error` for 2^32 of them.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;

    /// \returns what `to_bytes` was called on.
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

    // What this rank is dealt in this run; or, another rank.
    detail::shard_partition partition() const { return partition(shard_.rank()); }
    detail::shard_partition partition(u64 rank) const;

    // The same run, when this rank has taken what is below `watermark`, and `ahead`: ascending.
    checkpoint at(u64 watermark, std::vector<u64> ahead) const;

    std::uint32_t digest_of_start() const noexcept;

    void must_lead_to(const draw_sequence& other) const;

    static void must_be_one_run(std::span<const checkpoint> ranks);

    [[noreturn]] static void throw_impossible();

    // Whether a run can lead to it. (The lists are ascending, from base and above watermark.)
    bool possible() const;

    draw_sequence sequence_;
    weir::shard shard_ = {};
    weir::tail tail_ = tail::exact;
    std::uint32_t run_ = 0;  // tells runs apart that began with something else taken
    u64 base_ = 0;           // what is below was taken when this run began, or is of an epoch that is over
    u64 watermark_ = none;
    std::vector<u64> before_;  // taken when this run began, from base on, ascending
    std::vector<u64> ahead_;   // taken in this run, above watermark, ascending
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/checkpoint.ipp>
#endif

#endif
