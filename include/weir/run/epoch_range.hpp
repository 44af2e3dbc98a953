// weir run: the iterators of a consumer's loop over the items of a run, and over its epochs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_EPOCH_RANGE_HPP
#define WEIR_RUN_EPOCH_RANGE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>

#include <cstddef>   // for std::ptrdiff_t
#include <cstdint>   // for std::uint64_t
#include <iterator>  // for std::default_sentinel, std::input_iterator_tag
#include <mutex>     // for std::lock_guard
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::detail {

// Iterates over a run, an epoch, or another object whose `get` returns an optional item. Holds the item that
// was taken last.
template <class Items>
class item_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Items::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type&;
    using pointer = value_type*;

    [[nodiscard]] value_type& operator*() const noexcept { return *item_; }
    [[nodiscard]] value_type* operator->() const noexcept { return item_.operator->(); }
    item_iterator& operator++() {
        item_.reset();  // before the wait: this item may hold memory of a pool that the next item needs
        if (std::optional<value_type> next = items_->get()) item_.emplace(*std::move(next));
        return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] friend bool operator==(const item_iterator& at, std::default_sentinel_t) noexcept {
        return !at.item_.has_value();
    }

  private:
    friend Items;
    // Called by `begin` of the range: takes the first item.
    explicit item_iterator(Items& items) : items_(&items), item_(items.get()) {}

    Items* items_;
    mutable std::optional<value_type> item_;  // mutable: `*` of a const iterator gives it, too
};

}  // namespace weir::detail

namespace weir {

namespace detail {

// The type `Type`, for functions of runs with epochs. For a run without epochs, compilers report the message
// below before any other error.
template <class Item, class Type>
struct with_epochs {
    static_assert(is_epoch_item<Item>,
                  "weir: the source of this run has no epochs; give it some, as in "
                  "weir::source(weir::epochs(files, 3)), or take items with next and get");
    using type = Type;
};
template <class Item, class Type>
using with_epochs_t = typename with_epochs<Item, Type>::type;

// Holds the item, or the mark (the queued message that ends an epoch), that a destroyed `epoch_range` had
// fetched but not delivered. The next call that takes an item gets it. Always empty for items without epochs.
template <class T>
class fetched_ahead {
  public:
    template <class Core>
    static std::optional<T> take(const Core& /*run*/) noexcept {
        return std::nullopt;
    }
};
template <class T>
    requires is_epoch_item<T>
class fetched_ahead<T> {
  public:
    void put(T&& first) noexcept {
        const std::lock_guard guard(shared_->lock);
        shared_->first.emplace(std::move(first));
    }
    // Returns nothing if `run` was stopped: the item is destroyed, as items in queues are.
    template <class Core>
    std::optional<T> take(const Core& run) noexcept {
        std::optional<T> first;
        {
            const std::lock_guard guard(shared_->lock);
            if (shared_->first) first.emplace(*std::move(shared_->first));
            shared_->first.reset();
        }
        if (first && run.was_stopped()) first.reset();
        return first;
    }

  private:
    struct shared {
        spin_lock lock;  // guards first
        std::optional<T> first;
    };
    // On the heap, because a run can be moved and a lock can't.
    detail::owned<shared> shared_ = detail::owned<shared>(new shared());
};

}  // namespace detail

/// The result of `run::epochs`: an input range of epochs (passes of the source over its data). An epoch is
/// an input range of items. For one thread; `begin` and `++` of both ranges block.
///
/// The range takes the first item of an epoch to learn the epoch's number. If the range is destroyed before
/// the loop gets this item, the run keeps the item, and the next call that takes an item returns it. A call
/// that waits already returns the kept item only if the wait ends without another one: at the end of the
/// stream, or at the time limit. If such a call ends while the range is being destroyed, the call after it
/// returns the item. The run keeps one item: if a second range leaves one, the earlier one is lost.
/// Errors:   those of `run::get`, in `begin` and `++`.
/// Lifetime: the run outlives the range, and is not moved meanwhile.
template <class Run>
class epoch_range {
    using queued = typename Run::queue::value_type;
    using item_traits = typename Run::item_traits;

  public:
    using value_type = typename Run::value_type;

    /// The range of the epochs of `run`. Called by `run::epochs`.
    explicit epoch_range(Run& run) : run_(&run) {}
    epoch_range(const epoch_range&) = delete;
    epoch_range& operator=(const epoch_range&) = delete;
    // What was fetched and not delivered is kept in the run, so that a later call or range gets it.
    ~epoch_range() {
        if (ahead_ && !epoch_is_over_) run_->fetched_ahead_.put(*std::move(ahead_));
    }

    /// The current epoch.
    class epoch {
      public:
        [[nodiscard]] std::uint64_t number() const noexcept { return range_->number_; }  ///< from 0

        using value_type = typename Run::value_type;
        using iterator = detail::item_iterator<epoch>;

        [[nodiscard]] iterator begin() { return iterator(*this); }
        [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

      private:
        friend epoch_range;
        friend iterator;
        // Called by the iterator.
        std::optional<value_type> get() { return range_->next(); }

        explicit epoch(epoch_range& range) noexcept : range_(&range) {}
        epoch_range* range_;
    };

    class iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = epoch;
        using difference_type = std::ptrdiff_t;
        using reference = epoch&;
        using pointer = epoch*;

        explicit iterator(epoch_range& range) : range_(&range), epoch_(range) { range.seek(); }
        [[nodiscard]] epoch& operator*() const noexcept { return epoch_; }
        iterator& operator++() {
            while (range_->next()) {
            }
            range_->seek();
            return *this;
        }
        void operator++(int) { ++*this; }
        [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
            return at.range_->is_over();
        }

      private:
        epoch_range* range_;
        mutable epoch epoch_;
    };

    [[nodiscard]] iterator begin() { return iterator(*this); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// \returns whether no epoch is left.
    [[nodiscard]] bool is_over() const noexcept { return stream_is_over_; }

  private:
    // Begins the next epoch, if an item, or the mark that ends an epoch, is left; else the range is over.
    void seek() {
        // After the end of an epoch, `ahead_` is its mark, which has no more use.
        if (!ahead_ || epoch_is_over_) fetch();
        if (ahead_) number_ = ahead_->epoch();
        epoch_is_over_ = stream_is_over_ = !ahead_;
    }

    // Takes the next item or mark of the run into `ahead_`. At the end of the stream, `ahead_` is empty, and
    // the failure of the run is thrown, if there was one.
    void fetch() {
        get_result<queued> got = run_->take();
        ahead_.reset();
        if (!got) {
            run_->end_stream();
        } else {
            ahead_.emplace(*std::move(got));
        }
    }

    // Takes the next item of the current epoch. Returns nothing at the end of the epoch or of the stream.
    std::optional<value_type> next() {
        if (epoch_is_over_) return std::nullopt;
        if (!ahead_) fetch();
        epoch_is_over_ = !ahead_ || item_traits::is_mark(*ahead_);
        std::optional<value_type> item;
        if (!epoch_is_over_) {
            item.emplace(Run::deliver(*ahead_));
            ahead_.reset();
        }
        return item;
    }

    Run* run_;
    std::optional<queued> ahead_;  // fetched, but not delivered: an item, or the mark of an epoch's end
    std::uint64_t number_ = 0;     // of the current epoch
    bool epoch_is_over_ = false;   // the current epoch has ended
    bool stream_is_over_ = false;  // the stream has ended
};

}  // namespace weir

#endif
