// weir channel, internal: an item that knows where it came from, and the marks that travel between such items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_EPOCH_ITEM_HPP
#define WEIR_CHANNEL_EPOCH_ITEM_HPP

#include <weir/platform/platform.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

class progress_keeper;

// Told of every item of the source of which nothing is left to be taken: the consumer has all that
// was made of it, or it was dropped.
class progress_listener {
  public:
    virtual void finished(std::uint64_t position) noexcept = 0;

    // This, if it keeps a checkpoint; else null.
    virtual const progress_keeper* keeper() const noexcept { return nullptr; }

  protected:
    ~progress_listener() = default;
};

// What became of one item of the source: a share for each item that was made of it and is still on its way.
class origin {
  public:
    origin(std::uint64_t position, std::shared_ptr<progress_listener> listener) noexcept
        : position_(position), listener_(std::move(listener)) {}

    void add_share() noexcept { shares_.fetch_add(1, std::memory_order_relaxed); }
    // acq_rel; pairs with itself: who takes the last share tells of all
    void acknowledge_share() noexcept {
        if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) listener_->finished(position_);
    }

  private:
    const std::uint64_t position_;
    const std::shared_ptr<progress_listener> listener_;
    standard_platform::atomic<std::uint32_t> shares_{1};
};

// What travels with an item: its epoch, and a share of each source item that it was made of. One that is
// destroyed with its item (a run that was stopped) acknowledges nothing: those items have not been taken.
class provenance {
  public:
    provenance() noexcept = default;
    explicit provenance(std::uint64_t epoch) noexcept : epoch_(epoch) {}
    provenance(std::uint64_t epoch, std::shared_ptr<origin> from) : epoch_(epoch) {
        from_.push_back(std::move(from));
    }

    std::uint64_t epoch() const noexcept { return epoch_; }

    // One more item of the same origin.
    provenance share() const {
        provenance other(*this);
        for (const auto& each : other.from_) each->add_share();
        return other;
    }
    // For an item that is made of both.
    void add(provenance&& other) {
        epoch_ = other.epoch_;
        if (from_.empty()) {
            from_ = std::move(other.from_);
        } else {
            from_.insert(from_.end(), other.from_.begin(), other.from_.end());
        }
        other.from_.clear();
    }
    // The item is taken, or dropped.
    void acknowledge() noexcept {
        for (const auto& each : from_) each->acknowledge_share();
        from_.clear();
    }

  private:
    provenance(const provenance&) = default;

  public:
    provenance(provenance&&) noexcept = default;
    provenance& operator=(provenance&&) noexcept = default;
    ~provenance() = default;

  private:
    std::uint64_t epoch_ = 0;
    std::vector<std::shared_ptr<origin>> from_;
};

// What a queue of a run with epochs holds: an item with its provenance, or the mark that an epoch has ended,
// which takes a place in the queue but is never counted.
template <class T>
class epoch_item {
  public:
    using value_type = T;

    epoch_item(T&& value, provenance&& about) noexcept
        : value_(std::move(value)), provenance_(std::move(about)) {}
    static epoch_item end_of_epoch(std::uint64_t epoch) noexcept { return epoch_item(provenance(epoch)); }

    bool is_mark() const noexcept { return !value_.has_value(); }
    T& value() noexcept { return *value_; }
    const T& value() const noexcept { return *value_; }
    provenance& about() noexcept { return provenance_; }
    std::uint64_t epoch() const noexcept { return provenance_.epoch(); }

  private:
    explicit epoch_item(provenance&& about) noexcept : provenance_(std::move(about)) {}

    std::optional<T> value_;
    provenance provenance_;
};

// An item of a run without epochs is itself; it travels with nothing.
struct no_provenance {
    static constexpr std::uint64_t epoch() noexcept { return 0; }
    no_provenance share() const noexcept { return {}; }
    void add(no_provenance&&) noexcept {}
    void acknowledge() noexcept {}
};

template <class C>
inline constexpr bool is_epoch_item = false;
template <class T>
inline constexpr bool is_epoch_item<epoch_item<T>> = true;

// How a stage deals with what comes through its queue, tracked or not. `C`: what the queue holds.
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
    static detail::provenance provenance_of(epoch_item<T>& c) noexcept { return std::move(c.about()); }
    template <class U>
    static epoch_item<U> carry(U& value, detail::provenance&& about) noexcept {
        return epoch_item<U>(std::move(value), std::move(about));
    }
};

template <class C>
using carried_value_t = typename epoch_item_traits<C>::value;
template <class C, class U>
using carry_t = typename epoch_item_traits<C>::template with<U>;

}  // namespace weir::detail

#endif
