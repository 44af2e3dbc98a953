// weir channel, internal: items with their provenance, and end-of-epoch marks, as queues hold them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_EPOCH_ITEM_HPP
#define WEIR_CHANNEL_EPOCH_ITEM_HPP

#include <weir/platform/platform.hpp>

#include <cstddef>      // for std::ptrdiff_t, std::size_t
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::exchange, std::move
#include <vector>       // for std::vector

namespace weir::detail {

class origin;
class progress_recorder;

// The interface by which items report that the consumer (which takes the results of a run, a started
// pipeline) has taken them, or that a stage has dropped them. For checkpoints: a checkpoint is the record of
// which items of the source are finished; a later run continues from it.
class progress_listener {
  public:
    // An item gives up its share of `from`. `taken`: by the consumer; false: a stage drops the item.
    virtual void settle(origin& from, bool taken) noexcept = 0;

    // This object if it records progress for checkpoints; else null.
    virtual const progress_recorder* recorder() const noexcept { return nullptr; }

  protected:
    ~progress_listener() = default;
};

// The origin of items: one item of the source; or, for an item made of several (as a batch is), their
// origins, the parts. An item of the source has a position (the number of a sample: `draw::position`), unless
// it repeats another one to pad an epoch (a pass over the data). The origin counts shares: one for each item
// made from it that the consumer has not taken and no stage has dropped. When no share is left, a checkpoint
// counts the source's items in the origin as finished.
class origin {
  public:
    static constexpr std::uint64_t no_position = UINT64_MAX;

    // `listener` outlives the run.
    origin(std::uint64_t position, progress_listener& listener) noexcept
        : position_(position), listener_(listener) {}

    // relaxed: the caller has a share, so the count does not become 0 meanwhile
    void add_share() noexcept { shares_.fetch_add(1, std::memory_order_relaxed); }

    // Gives up one share. Calls `finished` with the position of each item of the source without shares left.
    // Returns the change of the number of torn origins: origins with shares left, of which the consumer has
    // taken at least one; while there are any, no checkpoint is exact. Called under the listener's lock.
    template <class Finished>
    std::ptrdiff_t settle(bool taken, const Finished& finished) {
        // acq_rel; pairs with itself: the thread that gives up the last share sees the parts
        const bool is_last = shares_.fetch_sub(1, std::memory_order_acq_rel) == 1;
        const bool was_torn = std::exchange(is_taken_, is_taken_ || taken);
        std::ptrdiff_t torn = std::ptrdiff_t(is_taken_ && !is_last) - std::ptrdiff_t(was_torn);
        if (!is_last) return torn;
        if (position_ != no_position) finished(position_);
        for (const auto& part : parts_) {
            if (part) torn += part->settle(is_taken_, finished);
        }
        return torn;
    }

  private:
    friend class provenance;

    const std::uint64_t position_;
    progress_listener& listener_;
    std::vector<std::shared_ptr<origin>> parts_;          // of an item made of several
    standard_platform::atomic<std::uint32_t> shares_{1};  // that have not been given up
    bool is_taken_ = false;        // the consumer has taken a share; guarded by the lock of the listener
    bool is_elementwise_ = false;  // element k was made of part k; only while the item has one share
};

// The data that travels with an item: its epoch, and a share of its origin. If a provenance is destroyed with
// its item, as in a run that was stopped, the share is not given up: the item was not taken.
class provenance {
  public:
    provenance() noexcept = default;
    explicit provenance(std::uint64_t epoch) noexcept : epoch_(epoch) {}
    provenance(std::uint64_t epoch, std::shared_ptr<origin> from) noexcept
        : epoch_(epoch), from_(std::move(from)) {}
    provenance(provenance&&) noexcept = default;
    provenance& operator=(provenance&&) noexcept = default;
    ~provenance() = default;

    std::uint64_t epoch() const noexcept { return epoch_; }

    // Adds the origin of `other` to the parts of this origin. Called when an element that is made of `other`
    // is appended to the item, such as a batch. Either all items of a run have origins, or none has.
    void add(provenance&& other) {
        epoch_ = other.epoch_;
        if (!other.from_) return;
        if (!from_) {
            from_ = std::make_shared<origin>(origin::no_position, other.from_->listener_);
            from_->is_elementwise_ = true;
        }
        from_->parts_.push_back(std::move(other.from_));
    }
    // From now on, the origin is not `is_elementwise_`. Called when elements may have changed or moved; when
    // another item gets a share of the origin; and when the last element of the item takes over the item's
    // own share.
    void clear_elementwise() noexcept {
        if (from_ && from_->is_elementwise_) from_->is_elementwise_ = false;
    }
    // The provenance of one more item of the same origin: for a stage that makes several items of one.
    provenance share() noexcept {
        clear_elementwise();
        if (from_) from_->add_share();
        return provenance(epoch_, from_);
    }
    // The provenance of element `k` of `n` of the item. Called once for each element, in order, by a stage
    // that divides items into elements.
    provenance of_element(std::size_t k, std::size_t n) noexcept {
        if (from_ && from_->is_elementwise_ && from_->parts_.size() == n) {
            return provenance(epoch_, std::move(from_->parts_[k]));
        }
        if (k + 1 != n) return share();
        clear_elementwise();
        return std::move(*this);
    }
    // Gives up the share: the consumer has taken the item (`taken`), or a stage has dropped it on purpose. A
    // checkpoint then need not wait for the item.
    void acknowledge(bool taken = false) noexcept {
        if (const auto from = std::exchange(from_, nullptr)) from->listener_.settle(*from, taken);
    }

  private:
    std::uint64_t epoch_ = 0;
    std::shared_ptr<origin> from_;  // null: no origins are recorded, or the share was given up
};

// The element type of the queues of a run with epochs: an item with its provenance, or a mark that an epoch
// has ended. An epoch is one pass over the data of a source. A mark takes a place in the queue, but
// statistics do not count it.
template <class T>
class epoch_item {
  public:
    using value_type = T;

    epoch_item(T&& value, provenance&& given) noexcept
        : value_(std::move(value)), provenance_(std::move(given)) {}
    static epoch_item end_of_epoch(std::uint64_t epoch) noexcept { return epoch_item(provenance(epoch)); }

    bool is_mark() const noexcept { return !value_.has_value(); }
    T& value() noexcept { return *value_; }
    const T& value() const noexcept { return *value_; }
    provenance& item_provenance() noexcept { return provenance_; }
    std::uint64_t epoch() const noexcept { return provenance_.epoch(); }

  private:
    explicit epoch_item(provenance&& given) noexcept : provenance_(std::move(given)) {}

    std::optional<T> value_;  // empty: a mark
    provenance provenance_;
};

// In place of `provenance` in a run without epochs.
struct no_provenance {
    static constexpr std::uint64_t epoch() noexcept { return 0; }
    void add(no_provenance&&) noexcept {}
    void clear_elementwise() noexcept {}
    no_provenance share() const noexcept { return {}; }
    no_provenance of_element(std::size_t, std::size_t) const noexcept { return {}; }
    void acknowledge(bool = false) noexcept {}
};

template <class C>
inline constexpr bool is_epoch_item = false;  // whether `C` is an `epoch_item`
template <class T>
inline constexpr bool is_epoch_item<epoch_item<T>> = true;

// Access for stages to the elements of any queue. `C`: the element type, an item type or an `epoch_item`.
// `with<U>`: the element type for items of type `U`. `carry` makes such an element.
template <class C>
struct epoch_item_traits {
    using value = C;
    using provenance = no_provenance;
    template <class U>
    using with = U;

    static constexpr bool is_mark(const C&) noexcept { return false; }
    static constexpr C& value_of(C& c) noexcept { return c; }
    static no_provenance provenance_of(C&) noexcept { return {}; }
    template <class U>
    static U&& carry(U& value, no_provenance&&) noexcept {
        return std::move(value);
    }
};
template <class T>
struct epoch_item_traits<epoch_item<T>> {
    using value = T;
    using provenance = detail::provenance;
    template <class U>
    using with = epoch_item<U>;

    static bool is_mark(const epoch_item<T>& c) noexcept { return c.is_mark(); }
    static T& value_of(epoch_item<T>& c) noexcept { return c.value(); }
    static detail::provenance provenance_of(epoch_item<T>& c) noexcept {
        return std::move(c.item_provenance());
    }
    template <class U>
    static epoch_item<U> carry(U& value, detail::provenance&& given) noexcept {
        return epoch_item<U>(std::move(value), std::move(given));
    }
};

// For an element type `C`: the item type; and the element type of a queue of the same run with items `U`.
template <class C>
using carried_value_t = typename epoch_item_traits<C>::value;
template <class C, class U>
using carry_t = typename epoch_item_traits<C>::template with<U>;

}  // namespace weir::detail

#endif
