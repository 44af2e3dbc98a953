// weir sampling: what consumers took of a sequence of draws, and from where a later run goes on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_HPP
#define WEIR_SAMPLING_CHECKPOINT_HPP

#include <weir/platform/random_bits.hpp>
#include <weir/sampling/checkpoint_bytes.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/shard.hpp>
#include <weir/sampling/shard_partition.hpp>

#include <algorithm>  // for std::merge, std::sort
#include <cstddef>    // for std::byte
#include <cstdint>    // for std::uint64_t
#include <iterator>   // for std::back_inserter
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
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
                                          const std::optional<checkpoint>& resume = std::nullopt) {
        if (tail == tail::drop && sequence.size != 0 && sequence.size < shard.world()) {
            throw std::invalid_argument("weir: with tail::drop, " + std::to_string(shard.world()) +
                                        " ranks would get nothing at all of " +
                                        std::to_string(sequence.size) + " draws an epoch");
        }
        checkpoint start(sequence);
        start.shard_ = shard;
        start.tail_ = shard.world() == 1 ? tail::exact : tail;
        if (resume) {
            resume->must_lead_to(sequence);
            start.base_ = resume->watermark_;
            start.before_ = resume->ahead_;
        }
        start.run_ = start.digest_of_start();
        return start.at(start.partition().next_own(start.base_), {});
    }

    /// What all ranks of a run took, to resume from with any number of ranks. The checkpoint of a single
    /// rank is complete by itself.
    ///
    /// \param ranks  one of each rank, in any order.
    /// Errors: `std::invalid_argument` if some rank is missing or there twice, or they are of
    ///         different runs.
    /// Cost:   in time and memory by how far the ranks are apart.
    [[nodiscard]] static checkpoint merge(std::span<const checkpoint> ranks) {
        must_be_one_run(ranks);
        if (ranks.front().complete()) return ranks.front();
        // The rank that is behind knows most of what was taken before the run.
        const checkpoint& last =
            *std::min_element(ranks.begin(), ranks.end(), [](const checkpoint& a, const checkpoint& b) {
                return a.watermark_ < b.watermark_;
            });
        checkpoint all(last.sequence_);
        all.base_ = all.watermark_ = last.watermark_;
        for (const u64 p : last.before_) {
            if (p > all.base_) all.ahead_.push_back(p);
        }
        for (const checkpoint& one : ranks) {
            const detail::shard_partition dealt = last.partition(one.shard_.rank());
            for (u64 p = dealt.next_own(all.base_); p < one.watermark_; p = dealt.next_own(p + 1)) {
                all.ahead_.push_back(p);
            }
            all.ahead_.insert(all.ahead_.end(), one.ahead_.begin(), one.ahead_.end());
        }
        std::sort(all.ahead_.begin(), all.ahead_.end());
        return all;
    }

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
    [[nodiscard]] std::vector<std::byte> to_bytes() const {
        detail::checkpoint_fields f;
        f.order = static_cast<std::uint8_t>(sequence_.order);
        f.tail = static_cast<std::uint8_t>(tail_);
        f.rank = shard_.rank();
        f.world = shard_.world();
        f.weights = sequence_.weights;
        f.run = run_;
        f.size = sequence_.size;
        f.seed = sequence_.seed;
        f.base = base_;
        f.watermark = watermark_;
        f.before = before_;
        f.ahead = ahead_;
        return f.to_bytes();
    }

    /// \returns what `to_bytes` was called on.
    /// Errors: `std::invalid_argument` for anything else: bytes that are cut short, changed, of a later
    ///         version or no checkpoint.
    [[nodiscard]] static checkpoint from_bytes(std::span<const std::byte> bytes) {
        auto f = detail::checkpoint_fields::from_bytes(bytes);
        if (f.order > static_cast<std::uint8_t>(draw_order::weighted) ||
            f.tail > static_cast<std::uint8_t>(tail::pad) || f.world == 0 || f.rank >= f.world) {
            throw_impossible();
        }
        checkpoint c({static_cast<draw_order>(f.order), f.weights, f.size, f.seed});
        c.shard_ = weir::shard(f.rank, f.world);
        c.tail_ = static_cast<weir::tail>(f.tail);
        c.run_ = f.run;
        c.base_ = f.base;
        c.watermark_ = f.watermark;
        c.before_ = std::move(f.before);
        c.ahead_ = std::move(f.ahead);
        if (!c.possible()) throw_impossible();
        return c;
    }

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
    detail::shard_partition partition(u64 rank) const {
        return {sequence_.size, base_, before_, rank, shard_.world(), tail_ == tail::drop};
    }

    // The same run, when this rank has taken what is below `watermark`, and `ahead`: ascending.
    checkpoint at(u64 watermark, std::vector<u64> ahead) const {
        checkpoint c(sequence_);
        c.watermark_ = watermark;
        if (complete()) {
            // What was taken before this run counts as taken by it.
            c.base_ = watermark;
            std::merge(before_.begin(), before_.end(), ahead.begin(), ahead.end(),
                       std::back_inserter(c.ahead_));
            return c;
        }
        c.shard_ = shard_;
        c.tail_ = tail_;
        c.run_ = run_;
        c.ahead_ = std::move(ahead);
        // Of what was taken before, only the current epoch and later ones matter.
        const u64 n = sequence_.size;
        c.base_ = watermark == none ? base_ : (std::max)(base_, watermark / n * n);
        if (watermark != none) {
            c.before_.assign(std::lower_bound(before_.begin(), before_.end(), c.base_), before_.end());
        }
        return c;
    }

    std::uint32_t digest_of_start() const noexcept {
        if (complete()) return 0;
        detail::digest d;
        d.add(base_);
        for (const u64 p : before_) d.add(p);
        return d.value();
    }

    void must_lead_to(const draw_sequence& other) const {
        const auto refuse = [](const std::string& why) {
            throw std::invalid_argument("weir: the checkpoint can't be resumed from here: " + why);
        };
        if (!complete()) {
            refuse("it is what rank " + std::to_string(shard_.rank()) + " of " +
                   std::to_string(shard_.world()) + " took; merge those of all ranks first");
        }
        constexpr const char* names[] = {"in sequence", "shuffled", "weighted"};
        if (sequence_.order != other.order) {
            refuse(std::string("its draws were ") + names[static_cast<int>(sequence_.order)] +
                   ", these are " + names[static_cast<int>(other.order)]);
        }
        const auto compare = [&refuse](u64 was, u64 is, const char* what) {
            if (was == is) return;
            refuse("its " + std::string(what) + " was " + std::to_string(was) + ", here it is " +
                   std::to_string(is));
        };
        compare(sequence_.size, other.size, "size (draws an epoch)");
        compare(sequence_.seed, other.seed, "seed");
        compare(sequence_.weights, other.weights, "weights' checksum");
    }

    static void must_be_one_run(std::span<const checkpoint> ranks) {
        const auto refuse = [](const std::string& why) {
            throw std::invalid_argument("weir: the checkpoints can't be merged: " + why);
        };
        if (ranks.empty()) refuse("there is none");
        const checkpoint& first = ranks.front();
        const std::uint32_t world = first.shard_.world();
        for (const checkpoint& c : ranks) {
            if (c.shard_.world() != world) {
                refuse("one is of " + std::to_string(world) + " ranks, another one of " +
                       std::to_string(c.shard_.world()));
            }
            if (c.sequence_ != first.sequence_) {
                refuse("they are of different sequences: order, size, seed or weights differ");
            }
            if (c.tail_ != first.tail_ || c.run_ != first.run_) {
                refuse("they are of runs that began differently");
            }
        }
        std::vector<u64> there;
        for (const checkpoint& c : ranks) there.push_back(c.shard_.rank());
        std::sort(there.begin(), there.end());
        const std::string of = " of " + std::to_string(world);
        if (const auto twice = std::adjacent_find(there.begin(), there.end()); twice != there.end()) {
            refuse("rank " + std::to_string(*twice) + of + " is there twice");
        }
        for (std::uint32_t r = 0; r < world; ++r) {
            if (r < there.size() && there[r] == r) continue;
            refuse("rank " + std::to_string(r) + of + " is missing");
        }
    }

    [[noreturn]] static void throw_impossible() {
        throw std::invalid_argument("weir: these bytes are no checkpoint: they say what can't be");
    }

    // Whether a run can lead to it. (The lists are ascending, from base and above watermark.)
    bool possible() const {
        if (watermark_ < base_) return false;
        if (watermark_ == none && !ahead_.empty()) return false;
        if (complete()) {
            const auto below = [this](u64 p) { return p / sequence_.size < none / sequence_.size; };
            return base_ == watermark_ && before_.empty() && tail_ == tail::exact && run_ == 0 &&
                   (sequence_.size != 0 || watermark_ == none) && (watermark_ == none || below(watermark_)) &&
                   (ahead_.empty() || below(ahead_.back()));
        }
        const detail::shard_partition dealt = partition();
        const auto owned = [&dealt](u64 p) { return dealt.owns(p); };
        return (watermark_ == none || owned(watermark_)) && std::all_of(ahead_.begin(), ahead_.end(), owned);
    }

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

#endif
