// weir sampling: samplers, which choose the indices that a rank processes, epoch after epoch
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SAMPLER_HPP
#define WEIR_SAMPLING_SAMPLER_HPP

#include <weir/platform/numbers.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/permutation.hpp>
#include <weir/sampling/shard.hpp>

#include <algorithm>  // for std::merge
#include <cstdint>    // for std::uint64_t
#include <iterator>   // for std::back_inserter
#include <optional>   // for std::optional
#include <stdexcept>  // for std::invalid_argument, std::overflow_error
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Returns the draws (chosen samples) of one rank (a process that shares the work), one by one. Each epoch
/// (pass over the data) has `size` draws, in an order that does not depend on the ranks. Draw number k of an
/// epoch, from 0, goes to rank k % world, where `world` is the number of ranks. `tail` says what happens if
/// the last round (one draw for each rank) is incomplete. After a resumption, only the draws that were not
/// taken are numbered.
///
///     while (auto d = sampler.next()) load(d->index);   // one epoch; repeated, the next epoch
///
/// The common base of `sampler` and `weighted_sampler`. `Order` computes the index at each place, counted
/// from 0, of an epoch.
///
/// Threads: a value, like `int`.
/// Cost: O(log t) time for a draw, and 16 t bytes, if earlier runs took t draws out of order.
template <class Order>
class basic_sampler {
  public:
    /// The next draw of the current epoch.
    /// \returns the draw; at the end of an epoch once nothing, and then the first draw of the next epoch.
    ///          Each rank sees the end of each epoch, also if the rank gets no draw of that epoch.
    /// Errors:  `std::overflow_error` if an epoch would go beyond position 2^64 - 2.
    [[nodiscard]] std::optional<draw> next() {
        if (!entered_) enter();
        if (num_returned_ < share_) {
            const std::uint64_t position = partition_.at(epoch_, num_returned_++);
            return give(position, false);
        }
        if (padding_) {
            padding_ = false;
            return give(partition_.repeated(epoch_), true);
        }
        ++epoch_;
        entered_ = false;
        return std::nullopt;
    }

    /// The next draw, across the ends of epochs.
    /// \param epochs  the number of epochs: draws of epoch `epochs` and later ones are not returned.
    /// \returns       the draw; nothing after the last draw of these epochs.
    /// Errors:        those of `next`.
    [[nodiscard]] std::optional<draw> next_before(std::uint64_t epochs) {
        while (epoch_ < epochs) {
            if (auto d = next()) return d;
            if (!has_draws()) epoch_ = epochs;  // the others are empty, too
        }
        return std::nullopt;
    }

    /// The current epoch, from 0. Grows by one when `next` returns nothing.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    /// The number of draws that `next` will still return in this epoch; padded ones (repeats of others)
    /// count.
    [[nodiscard]] std::uint64_t remaining() const noexcept {
        if (entered_) return share_ - num_returned_ + (padding_ ? 1 : 0);
        if (!partition_.has(epoch_)) return 0;
        return partition_.share(epoch_) + (pads_ && partition_.lacks(epoch_) ? 1 : 0);
    }

    /// The number of positions in an epoch: the draws of all ranks together, without padded ones. Draws that
    /// `tail::drop` omits, or that earlier runs took, are counted.
    [[nodiscard]] std::uint64_t size() const noexcept { return start_.sequence().size; }

    /// Whether this rank gets draws: not if the size is 0, nor a rank from number `size()` on, without
    /// `tail::pad`.
    [[nodiscard]] bool has_draws() const noexcept {
        return size() != 0 && (pads_ || start_.watermark() != UINT64_MAX);
    }

    /// The parameters of the sequence of draws; those of the resumed checkpoint are equal. Lifetime: that
    /// of the sampler.
    [[nodiscard]] const draw_sequence& sequence() const noexcept { return start_.sequence(); }

    [[nodiscard]] weir::shard shard() const noexcept { return shard_; }  ///< the rank whose draws it returns

    /// The draws that were taken when this sampler was constructed. Start a `progress` with this checkpoint.
    [[nodiscard]] const checkpoint& start() const noexcept { return start_; }

  protected:
    /// \param order  `order.enter(epoch)` begins an epoch; `order[place]` is the index at a place of the
    ///               epoch.
    /// Errors: those of `checkpoint::begin`.
    basic_sampler(Order order, const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                  const std::optional<checkpoint>& resume)
        : order_(std::move(order)), start_(checkpoint::begin(sequence, shard, tail, resume)),
          partition_(partition_of(start_, shard, tail)), shard_(shard), pads_(tail == tail::pad),
          epoch_(partition_.first_epoch()) {}

  private:
    static detail::shard_partition partition_of(const checkpoint& start, weir::shard shard, weir::tail tail) {
        // Both lists have only positions that earlier runs took, as this run has taken nothing yet. One list
        // is empty, so `taken` ascends: `before_` in a complete checkpoint; in any other, `ahead_`.
        std::vector<std::uint64_t> taken = start.before_;
        taken.insert(taken.end(), start.ahead_.begin(), start.ahead_.end());
        return {start.sequence_.size, start.base_,   std::move(taken),
                shard.rank(),         shard.world(), tail == tail::drop};
    }

    void enter() {
        if (!partition_.has(epoch_)) {
            throw std::overflow_error(
                "weir: a sampler counts up to 2^64 - 1 draws; there is no room for another epoch");
        }
        order_.enter(epoch_);
        share_ = partition_.share(epoch_);
        padding_ = pads_ && partition_.lacks(epoch_);
        num_returned_ = 0;
        entered_ = true;
    }

    draw give(std::uint64_t position, bool padded) const {
        return {position, order_[position - epoch_ * size()], epoch_, padded};
    }

    Order order_;
    checkpoint start_;
    detail::shard_partition partition_;
    weir::shard shard_;
    bool pads_;
    bool padding_ = false;  // one padded draw follows the rank's own draws
    bool entered_ = false;  // padding_, share_ and num_returned_ are those of epoch_
    std::uint64_t epoch_;
    std::uint64_t share_ = 0;         // the number of this rank's draws in the epoch
    std::uint64_t num_returned_ = 0;  // the number of these draws that `next` has returned
};

/// Options of a `sampler`.
struct sampler_options {
    /// The number of indices, which are 0 to size - 1. Each comes once in an epoch, unless `draws` says
    /// otherwise.
    std::uint64_t size = 0;

    /// The number of draws of all ranks together in an epoch; 0: one for each index. With fewer draws than
    /// indices, an epoch has only some of the indices: random ones if shuffled, else always the lowest. With
    /// more draws, all indices come once before any comes again; if shuffled, in another order each time.
    std::uint64_t draws = 0;

    /// The seed of the order. Has to be the same on all ranks.
    std::uint64_t seed = 0;

    /// Whether each epoch has a random order of its own. If not, the indices of each epoch ascend from 0. If
    /// `draws` exceeds `size`, they start again from 0 after the last index.
    bool shuffle = true;

    /// The rank whose draws are returned. Under torchrun, mpirun or srun: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens at the end of an epoch if the ranks can't get equally many draws.
    weir::tail tail = weir::tail::exact;

    /// The checkpoint to continue from: complete (merged from those of all ranks), of a run with any number
    /// of ranks. Empty: the first draw of epoch 0 comes first.
    std::optional<checkpoint> resume = std::nullopt;
};

namespace detail {

// The index at each place of an epoch of a `sampler`.
class permuted_order {
  public:
    permuted_order(std::uint64_t size, std::uint64_t seed, bool shuffle) noexcept
        : size_(size), seed_(seed), shuffle_(shuffle) {}

    void enter(std::uint64_t epoch) noexcept {
        epoch_seed_ = subseed(seed_, epoch);
        if (shuffle_) places_ = permutation(size_, epoch_seed_);
    }
    std::uint64_t operator[](std::uint64_t place) const noexcept {
        if (place < size_) return shuffle_ ? places_[place] : place;
        const std::uint64_t again = place / size_;  // how often each index has come before
        return shuffle_ ? permutation(size_, subseed(epoch_seed_, again))[place % size_] : place % size_;
    }

  private:
    permutation places_;
    std::uint64_t size_, seed_;
    std::uint64_t epoch_seed_ = 0;
    bool shuffle_;
};

}  // namespace detail

/// A sampler of the indices below a number: each once in an epoch, shuffled or in order; or `draws` of them.
///
///     weir::sampler mine({.size = 50'000, .seed = 7, .shard = {2, 8}, .tail = weir::tail::pad});
///
/// Cost, beyond that of `basic_sampler`: 40 ns a draw; no memory that grows with the size.
class sampler : public basic_sampler<detail::permuted_order> {
  public:
    /// Errors: `std::invalid_argument` for `tail::drop` if an epoch has draws, but fewer than there are
    ///         ranks; if `draws` is not 0 but `size` is; or if the checkpoint is not complete, or its run had
    ///         a `weighted_sampler`, another size, draws or shuffle, or, if shuffled, another seed.
    explicit sampler(const sampler_options& options)
        : basic_sampler(detail::permuted_order(options.size, options.seed, options.shuffle),
                        {options.shuffle ? draw_order::permuted : draw_order::sequential,
                         checksum_of(options), options.draws != 0 ? options.draws : options.size,
                         options.shuffle ? options.seed : 0},
                        options.shard, options.tail, options.resume) {}

  private:
    static std::uint32_t checksum_of(const sampler_options& options) {
        if (options.draws == 0 || options.draws == options.size) return 0;
        if (options.size == 0) {
            throw std::invalid_argument(
                "weir: a sampler is to make draws, and has nothing to draw from; give it a .size of 1 or "
                "more");
        }
        const std::uint32_t sum = detail::digest().add(options.size).value();
        return sum != 0 ? sum : 1;
    }
};

namespace detail {

template <class Order>
void is_sampler_base(const basic_sampler<Order>*);
template <class S>
concept sampler_like = requires(const S* s) { detail::is_sampler_base(s); };

}  // namespace detail

}  // namespace weir

#endif
