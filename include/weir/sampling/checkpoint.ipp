// weir sampling, internal: bodies of the functions of sampling/checkpoint.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_IPP
#define WEIR_SAMPLING_CHECKPOINT_IPP

#include <weir/sampling/checkpoint.hpp>

#include <weir/platform/config.hpp>
#include <weir/sampling/checkpoint_bytes.hpp>

#include <algorithm>  // for std::sort
#include <iterator>   // for std::back_inserter
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir {

WEIR_INLINE checkpoint checkpoint::begin(const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                                         const std::optional<checkpoint>& resume) {
    if (tail == tail::drop && sequence.size != 0 && sequence.size < shard.world()) {
        throw std::invalid_argument("weir: with tail::drop, " + std::to_string(shard.world()) +
                                    " ranks would get nothing at all of " + std::to_string(sequence.size) +
                                    (sequence.size == 1 ? " draw" : " draws") + " an epoch");
    }
    checkpoint start(sequence);
    start.shard_ = shard;
    start.tail_ = shard.world() == 1 ? tail::exact : tail;
    if (resume) {
        resume->check_resumable(sequence);
        start.base_ = resume->watermark_;
        start.before_ = resume->ahead_;
    }
    start.run_ = start.digest_of_start();
    return start.at(start.partition().next_own(start.base_), {});
}

WEIR_INLINE checkpoint checkpoint::merge(std::span<const checkpoint> ranks) {
    check_same_run(ranks);
    if (ranks.front().complete()) return ranks.front();
    // The rank (process) with the lowest watermark has the most positions in before_: `at` removes those of
    // past epochs.
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

WEIR_INLINE std::vector<std::byte> checkpoint::to_bytes() const {
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

WEIR_INLINE checkpoint checkpoint::from_bytes(std::span<const std::byte> bytes) {
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

WEIR_INLINE detail::shard_partition checkpoint::partition(u64 rank) const {
    return {sequence_.size, base_, before_, rank, shard_.world(), tail_ == tail::drop};
}

WEIR_INLINE checkpoint checkpoint::at(u64 watermark, std::vector<u64> ahead) const {
    checkpoint c(sequence_);
    c.watermark_ = watermark;
    if (complete()) {
        // Positions that were taken before this run count as taken by this run.
        c.base_ = watermark;
        std::merge(before_.begin(), before_.end(), ahead.begin(), ahead.end(), std::back_inserter(c.ahead_));
        return c;
    }
    c.shard_ = shard_;
    c.tail_ = tail_;
    c.run_ = run_;
    c.ahead_ = std::move(ahead);
    // Of the positions that were taken before this run, those of past epochs are no longer needed.
    const u64 n = sequence_.size;
    c.base_ = watermark == none ? base_ : (std::max)(base_, watermark / n * n);
    if (watermark != none) {
        c.before_.assign(std::lower_bound(before_.begin(), before_.end(), c.base_), before_.end());
    }
    return c;
}

WEIR_INLINE std::uint32_t checkpoint::digest_of_start() const noexcept {
    if (complete()) return 0;
    detail::digest d;
    d.add(base_);
    for (const u64 p : before_) d.add(p);
    return d.value();
}

WEIR_INLINE void checkpoint::check_resumable(const draw_sequence& other) const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("weir: the checkpoint can't be resumed from here: " + why);
    };
    if (!complete()) {
        refuse("it is what rank " + std::to_string(shard_.rank()) + " of " + std::to_string(shard_.world()) +
               " took; merge those of all ranks first");
    }
    constexpr const char* names[] = {"in sequence", "shuffled", "weighted"};
    if (sequence_.order != other.order) {
        refuse(std::string("its draws were ") + names[static_cast<int>(sequence_.order)] + ", these are " +
               names[static_cast<int>(other.order)]);
    }
    const auto compare = [&refuse](u64 was, u64 is, const char* what) {
        if (was == is) return;
        refuse("its " + std::string(what) + " was " + std::to_string(was) + ", here it is " +
               std::to_string(is));
    };
    compare(sequence_.size, other.size, "size (draws an epoch)");
    compare(sequence_.seed, other.seed, "seed");
    if (sequence_.weights != other.weights && other.order != draw_order::weighted) {
        refuse("its .size was another, with as many draws an epoch");
    }
    compare(sequence_.weights, other.weights, "weights' checksum");
}

WEIR_INLINE void checkpoint::check_same_run(std::span<const checkpoint> ranks) {
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

WEIR_INLINE void checkpoint::throw_impossible() {
    throw std::invalid_argument("weir: these bytes are no checkpoint: they say what can't be");
}

WEIR_INLINE bool checkpoint::possible() const {
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

WEIR_INLINE progress::progress(weir::checkpoint start)
    : start_(std::move(start)), partition_(start_.partition()), watermark_(start_.watermark()),
      ahead_(start_.ahead().begin(), start_.ahead().end()) {}

WEIR_INLINE void progress::took(const draw& d) {
    if (!d.padded) took(d.position);
}

WEIR_INLINE void progress::took(std::uint64_t position) {
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

WEIR_INLINE weir::checkpoint progress::checkpoint() const {
    return start_.at(watermark_, std::vector<std::uint64_t>(ahead_.begin(), ahead_.end()));
}

WEIR_INLINE void progress::refuse(std::uint64_t position, const char* why) const {
    throw std::invalid_argument("weir: rank " + std::to_string(start_.shard().rank()) + " of " +
                                std::to_string(start_.shard().world()) + " can't take position " +
                                std::to_string(position) + ": " + why);
}

}  // namespace weir

#endif
