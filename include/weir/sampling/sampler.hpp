// weir sampling: which indices a rank works on, in which order, epoch after epoch
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SAMPLER_HPP
#define WEIR_SAMPLING_SAMPLER_HPP

#include <weir/platform/random_bits.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/permutation.hpp>
#include <weir/sampling/shard.hpp>
#include <weir/sampling/shard_partition.hpp>

#include <algorithm>  // for std::merge
#include <cstdint>    // for std::uint64_t
#include <iterator>   // for std::back_inserter
#include <optional>   // for std::optional
#include <stdexcept>  // for std::overflow_error
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// Gives one rank's draws, one by one. Each epoch has `size` places in an order that does not depend on
/// the ranks; number k of them, from 0, goes to rank k % world. After a resumption the same holds for
/// what was not taken of an epoch.
///
///     while (auto d = sampler.next()) load(d->index);   // one epoch; the next loop is the next one
///
/// This is what `sampler` and `weighted_sampler` have in common; `Order` says which index is where.
///
/// Threads: a value, like `int`. Cost: O(log t) a draw, where t were taken out of order before; 8 t
/// bytes.
template <class Order>
class basic_sampler {
  public:
    /// The next draw of the current epoch.
    /// \returns nothing at the end of an epoch, once; the call after that begins the next epoch. Each
    ///          rank sees each end, also of an epoch of which it gets nothing.
    /// Errors:  `std::overflow_error` if an epoch would go beyond position 2^64 - 2.
    [[nodiscard]] std::optional<draw> next() {
        if (!entered_) enter();
        if (j_ < share_) {
            const std::uint64_t position = partition_.at(epoch_, j_++);
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

    /// The next draw, over the ends of epochs.
    /// \param epochs  where to stop: no draw of this epoch or a later one is given
    /// \returns       nothing when all epochs before that are given.
    /// Errors:        as above.
    [[nodiscard]] std::optional<draw> next_before(std::uint64_t epochs) {
        while (epoch_ < epochs) {
            if (auto d = next()) return d;
        }
        return std::nullopt;
    }

    /// The current epoch, from 0. It changes when `next` gives nothing.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    /// How many draws, padded ones included, `next` has yet to give before the epoch ends.
    [[nodiscard]] std::uint64_t remaining() const noexcept {
        if (entered_) return share_ - j_ + (padding_ ? 1 : 0);
        if (!partition_.has(epoch_)) return 0;
        return partition_.share(epoch_) + (pads_ && partition_.lacks(epoch_) ? 1 : 0);
    }

    /// How many draws there are in an epoch for all ranks together, without padded ones.
    [[nodiscard]] std::uint64_t size() const noexcept { return start_.sequence().size; }

    /// The sequence as a whole, which a checkpoint has to fit. Lifetime: that of the sampler.
    [[nodiscard]] const draw_sequence& sequence() const noexcept { return start_.sequence(); }

    [[nodiscard]] weir::shard shard() const noexcept { return shard_; }  ///< whose draws it gives

    /// What was taken when this sampler began, whatever it has given since: with this `progress` begins.
    [[nodiscard]] const checkpoint& start() const noexcept { return start_; }

  protected:
    /// \param order  called with an epoch, then with places in it: which index is there.
    /// Errors: those of `checkpoint::begin`.
    basic_sampler(Order order, const draw_sequence& sequence, weir::shard shard, weir::tail tail,
                  const std::optional<checkpoint>& resume)
        : order_(std::move(order)), start_(checkpoint::begin(sequence, shard, tail, resume)),
          partition_(partition_of(start_, shard, tail)), shard_(shard), pads_(tail == tail::pad),
          epoch_(partition_.first_epoch()) {}

  private:
    static detail::shard_partition partition_of(const checkpoint& start, weir::shard shard, weir::tail tail) {
        // One of the two is empty: nothing was taken in this run.
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
        j_ = 0;
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
    bool padding_ = false;  // one more to give after the share
    bool entered_ = false;  // whether what follows is about epoch_
    std::uint64_t epoch_;
    std::uint64_t share_ = 0;
    std::uint64_t j_ = 0;  // how many of the share are given
};

/// Of a `sampler`.
struct sampler_options {
    /// How many indices there are: 0 to size - 1, each of them once an epoch, unless `draws` says
    /// otherwise.
    std::uint64_t size = 0;

    /// How many draws all ranks together make in an epoch; 0: as many as there are indices. With fewer, an
    /// epoch is that many of them, others each time if it is shuffled; with more, each index comes again when
    /// all have come, in another order.
    std::uint64_t draws = 0;

    /// Decides the order; the same on all ranks.
    std::uint64_t seed = 0;

    /// Whether each epoch has a random order of its own; if not, they are given from 0 on.
    bool shuffle = true;

    /// Which part is given here. In a launched process: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens where the ranks can't get equally many.
    weir::tail tail = weir::tail::exact;

    /// Where to go on: a complete checkpoint, of a run with any number of ranks.
    std::optional<checkpoint> resume = std::nullopt;
};

namespace detail {

class permuted_order {
  public:
    permuted_order(std::uint64_t size, std::uint64_t seed, bool shuffle) noexcept
        : size_(size), seed_(seed), shuffle_(shuffle) {}

    void enter(std::uint64_t epoch) noexcept;
    std::uint64_t operator[](std::uint64_t place) const noexcept;

  private:
    permutation places_;
    std::uint64_t size_, seed_;
    std::uint64_t epoch_seed_ = 0;
    bool shuffle_;
};

}  // namespace detail

/// The indices below a number, each once an epoch, shuffled or in order; or as many of them as `draws` says.
///
///     weir::sampler mine({.size = 50'000, .seed = 7, .shard = {2, 8}, .tail = weir::tail::pad});
///
/// Cost, but for the above: 40 ns a draw; no memory that grows with the size.
class sampler : public basic_sampler<detail::permuted_order> {
  public:
    /// Errors: `std::invalid_argument` if nothing would ever be given (`tail::drop` and more ranks than
    ///         draws, or draws of no indices), or the checkpoint is not complete or of other options: size,
    ///         draws, seed, shuffle.
    explicit sampler(const sampler_options& options);

  private:
    static std::uint32_t checksum_of(const sampler_options& options);
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/sampler.ipp>
#endif

#endif
