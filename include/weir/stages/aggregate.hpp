// weir stages: the stage that gathers several items into one, a batch
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_AGGREGATE_HPP
#define WEIR_STAGES_AGGREGATE_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <concepts>         // for std::convertible_to, std::same_as
#include <cstddef>          // for std::size_t
#include <cstdint>          // for SIZE_MAX, std::uint64_t, UINT64_MAX
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <type_traits>      // for std::is_constructible_v, std::is_same_v, std::is_signed_v
#include <utility>          // for std::forward, std::move
#include <vector>           // for std::vector

namespace weir {

/// The options of `aggregate`.
struct aggregate_options {
    std::string name = {};  ///< the name in reports; empty: the kind and the place, `aggregate#2`
    /// True: a batch that is not full at the end of the stream, or of an epoch (pass over the data), is
    /// dropped. False: the stage gives the smaller batch.
    bool drop_last = false;
    /// How long a batch may wait for more items after its first item, by the clock of the run. After that
    /// time the stage gives the batch, although it is not full, whatever `drop_last` is. 0: no limit.
    duration max_delay = duration(0);
    /// The capacity of the queue behind the stage, in batches; at least 1.
    std::size_t capacity = 2;
    /// The source location that reports show: of the braces of these options, or of the call without any.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// The operation of `aggregate`, which the stage's worker calls (stages/transform.hpp). Gathers a batch of up
// to `size` items and up to the weight `most`, which only a batch of one item exceeds. The worker calls
// `expire` when `max_delay` has passed since the first item of a batch.
template <class In, class Batch, class Weigh>
class batch_op {
  public:
    static constexpr result_origin origin = result_origin::all_held;  // a batch is made of all held items

    batch_op(std::size_t size, std::uint64_t most, Weigh weigh, const aggregate_options& options)
        : size_(size), most_(most), weigh_(std::move(weigh)), drop_last_(options.drop_last),
          max_delay_(options.max_delay) {}

    void push(In&& item, std::optional<Batch>& batch) {
        const std::uint64_t weight = weight_of(std::as_const(item));
        if (!items_.empty() && weight > most_ - detail::smaller(most_, weight_)) give(batch);  // does not fit
        if (items_.empty() && size_ <= most_reserved) items_.reserve(size_);
        items_.push_back(std::move(item));
        weight_ += weight;  // at most `most_`, unless the batch has one item only
        if (items_.size() == size_ || weight_ >= most_) due_ = true;
    }
    void end(std::optional<Batch>&) {  // the stream or an epoch has ended
        if (!drop_last_) return expire();
        items_.clear();
        weight_ = 0;
    }
    void pop(std::optional<Batch>& batch) {
        if (due_) give(batch);
    }
    // True: if `push` stores a batch, this batch has earlier items only, as the new item does not fit.
    bool result_lacks_item() const noexcept { return true; }
    // Whether element k of a batch is its k-th item: a checkpoint (record of consumed items) then may count
    // part of a batch. False with `drop_last`: a resumed run would form, and drop, other batches.
    bool is_elementwise() const noexcept { return !drop_last_ && std::is_same_v<Batch, std::vector<In>>; }
    bool done() const noexcept { return !due_; }  // no complete batch is left for `pop`

    duration max_delay() const noexcept { return max_delay_; }
    bool holds() const noexcept { return !items_.empty(); }  // whether a batch is begun
    void expire() noexcept { due_ = !items_.empty(); }       // `pop` then gives the batch, which is not full

  private:
    std::uint64_t weight_of(const In& item) {  // throws for a negative weight
        const auto weight = weigh_(item);
        if constexpr (std::is_signed_v<decltype(weight)>) {
            detail::refuse_if(weight < 0, "weir: an item of an aggregate has a negative weight");
        }
        return static_cast<std::uint64_t>(weight);
    }
    void give(std::optional<Batch>& batch) {  // the gathered items
        batch.emplace(std::move(items_));
        items_ = std::vector<In>();
        weight_ = 0;
        due_ = false;
    }

    static constexpr std::size_t most_reserved = 1U << 16U;  // a larger batch allocates as it grows
    const std::size_t size_;                                 // items of a full batch
    const std::uint64_t most_;  // the greatest weight of a batch of several items
    Weigh weigh_;               // the user's function, or `no_weight`
    const bool drop_last_;
    const duration max_delay_;
    std::vector<In> items_;     // the gathered items
    std::uint64_t weight_ = 0;  // of all of them
    bool due_ = false;          // the gathered items are a complete batch
};

// The weight function of batches without a limit of weight.
struct no_weight {
    std::uint64_t operator()(const auto&) const noexcept { return 0; }
};

template <class Batch, class Weigh>
struct aggregate_stage : transform_stage<aggregate_stage<Batch, Weigh>> {
    static constexpr const char* kind = "aggregate";
    static constexpr const char* one_slot =  // the end of the error message for another concurrency
        "aggregates: it fills one batch after the other, its concurrency is 1";

    aggregate_stage(std::size_t n, std::uint64_t max_weight, Weigh w, aggregate_options o)
        : transform_stage<aggregate_stage>{detail::stage_options_of(o, kind)}, size(n), most(max_weight),
          weigh(std::move(w)), how(std::move(o)) {
        refuse_if(size == 0, "weir: aggregate(0) would wait for ever for an empty batch; give it 1 or more");
        refuse_if(how.max_delay < duration(0),
                  "weir: the max_delay of an aggregate can't be negative; 0 means that it waits for a full "
                  "batch");
    }

    template <class In>
    struct made_of {  // the batch type, for items `In`; asserts that it fits
        using type = std::conditional_t<std::is_void_v<Batch>, std::vector<In>, Batch>;
        static_assert(
            requires(Weigh& w, const In& item) { static_cast<std::uint64_t>(w(item) % 1U); },  // no fraction
            "weir: what weighs the items of an aggregate is called with each item as a constant, and returns "
            "an integer; the types are those of aggregate_stage<...>::made_of<...> in this message");
        static_assert(std::is_constructible_v<type, std::vector<In>&&>,
                      "weir: aggregate<Batch> makes its batches of a std::vector of what the stage before it "
                      "gives, and this Batch can't be made of one; the types are those of "
                      "aggregate_stage<...>::made_of<...> in this message");
    };
    template <class In>
    using result = typename made_of<In>::type;

    template <class In>
    static batch_op<In, result<In>, Weigh> op(const aggregate_stage& self) {
        return {self.size, self.most, self.weigh, self.how};
    }

    std::size_t size;
    std::uint64_t most;
    Weigh weigh;
    aggregate_options how;
};

// The operation (see stages/transform.hpp) that calls the user's aggregator, of type `A`, for items of type
// `In`.
template <class A, class In>
class own_batch_op {
  public:
    using Batch = typename decltype(std::declval<A&>().accumulate(std::declval<In>()))::value_type;
    static constexpr result_origin origin = result_origin::unknown;  // the user's object decides

    own_batch_op(A aggregator, bool drop_last) : aggregator_(std::move(aggregator)), drop_last_(drop_last) {}

    void push(In&& item, std::optional<Batch>& batch) {
        detail::replace(batch, aggregator_.accumulate(std::move(item)));
    }
    void end(std::optional<Batch>& batch) {
        std::optional<Batch> made = aggregator_.flush();
        if (made && !drop_last_) batch.emplace(*std::move(made));
    }
    bool result_lacks_item() const noexcept {
        if constexpr (requires { aggregator_.keeps_last(); }) {
            return aggregator_.keeps_last();
        } else {
            return false;
        }
    }
    bool is_elementwise() const noexcept { return false; }

  private:
    A aggregator_;
    const bool drop_last_;
};

template <class A>
struct own_aggregate_stage : transform_stage<own_aggregate_stage<A>> {
    static constexpr const char* kind = "aggregate";
    static constexpr const char* one_slot =
        "aggregates: it fills one batch after the other, its concurrency is 1";
    static constexpr const char* no_checkpoint =  // why a run has no checkpoint; null: it has one
        requires(const A& a) { a.keeps_last(); }
            ? nullptr
            : "may hold items longer than until its next batch; if its aggregator doesn't, give it bool "
              "keeps_last() const, which says whether a batch lacks the last item";

    template <class Options>
    own_aggregate_stage(A a, const Options& o)
        : transform_stage<own_aggregate_stage>{detail::stage_options_of(o, kind)}, aggregator(std::move(a)),
          drop_last(o.drop_last) {
        refuse_if(o.max_delay != duration(0),
                  "weir: an aggregator of one's own has no max_delay: only a batch by number or by weight "
                  "can be given before it is full");
    }

    template <class In>
    struct is_given {  // asserts that the aggregator takes items `In`
        static constexpr bool fits = requires(A& a, In&& item) {
            { a.accumulate(std::move(item)).has_value() } -> std::convertible_to<bool>;
            { a.flush() } -> std::same_as<decltype(a.accumulate(std::move(item)))>;
        };
        static_assert(fits,
                      "weir: an aggregator has accumulate(item), which is given what the stage before it "
                      "gives, and flush(), both of which return a std::optional batch; the types are those "
                      "of own_aggregate_stage<...>::is_given<...> in this message");
    };
    // The batch type. `In` if the aggregator does not fit, so that `is_given` gives the only error.
    template <class In, bool Fits>
    struct batch_of : std::type_identity<In> {};
    template <class In>
    struct batch_of<In, true> : std::type_identity<typename own_batch_op<A, In>::Batch> {};
    template <class In>
    using result = typename batch_of<In, is_given<In>::fits>::type;

    template <class In, class Self>
    static own_batch_op<A, In> op(Self&& self) {
        return {std::forward<Self>(self).aggregator, self.drop_last};
    }

    A aggregator;
    bool drop_last;
};

}  // namespace detail

/// Gathers `size` items into a `std::vector`, or into a `Batch` that is constructed from such a vector.
///
/// Order:  kept. A batch may be smaller at the end of the stream or of an epoch, and after `max_delay`: see
///         `aggregate_options`. No batch holds items of two epochs.
/// Errors: `std::invalid_argument` for a size of 0, and for negative numbers. An exception from the
///         constructor of `Batch` stops the run.
template <class Batch = void>
[[nodiscard]] auto aggregate(std::size_t size, aggregate_options options = {}) {
    detail::refuse_negative(size, "weir: the size of a batch was negative; give aggregate 1 or more");
    return detail::aggregate_stage<Batch, detail::no_weight>(size, UINT64_MAX, {}, std::move(options));
}

/// The same as `aggregate(size, {.drop_last = drop_last})`.
template <class Batch = void>
[[nodiscard]] auto aggregate(std::size_t size, std::same_as<bool> auto drop_last,
                             std::source_location where = detail::call_place::current()) {
    return weir::aggregate<Batch>(size, aggregate_options{.drop_last = drop_last, .where = where});
}

/// Gathers items up to a weight, for example in bytes. A batch is complete when its weight is `max_weight`,
/// or would be more with the next item. An item heavier than `max_weight` is a batch of its own.
///
/// \param weigh  called with each item, const; returns an integer that is not negative.
/// Order:  as for `aggregate`.
/// Errors: as for `aggregate`. An exception from `weigh`, and a negative weight, stop the run.
template <class Batch = void, class Weigh>
[[nodiscard]] auto aggregate_by_weight(std::uint64_t max_weight, Weigh weigh,
                                       aggregate_options options = {}) {
    detail::refuse_negative(
        max_weight, "weir: the max_weight of a batch was negative; with 0 each item is a batch of its own");
    return detail::aggregate_stage<Batch, Weigh>(SIZE_MAX, max_weight, std::move(weigh), std::move(options));
}

/// Gathers the items that come within `max_delay` after the first item of a batch.
///
/// Order:  as for `aggregate`.
/// Errors: `std::invalid_argument` unless `max_delay` is more than 0. `options.max_delay` is not used.
template <class Batch = void>
[[nodiscard]] auto aggregate_for(duration max_delay, aggregate_options options = {}) {
    detail::refuse_if(max_delay <= duration(0),
                      "weir: aggregate_for gathers for a time, which has to be more than 0");
    options.max_delay = max_delay;
    return detail::aggregate_stage<Batch, detail::no_weight>(SIZE_MAX, UINT64_MAX, {}, std::move(options));
}

/// Gathers items with an object of the user, the aggregator:
///
///     struct by_key {
///         std::optional<batch> accumulate(item i);  // a batch, if one is full now
///         std::optional<batch> flush();             // the stream, or an epoch, has ended: the rest
///     };
///
/// Each run gets a copy of the aggregator. The run has checkpoints only if the aggregator also has
/// `bool keeps_last() const`, called after `accumulate` has returned a batch. `keeps_last` returns true if
/// the batch lacks the item just passed to `accumulate`. All earlier items have to be in this batch, or in an
/// earlier batch, or dropped.
/// Order:  that in which the aggregator returns batches. With `drop_last`, batches from `flush` are dropped.
/// Errors: an exception from the aggregator stops the run. `std::invalid_argument` for a nonzero
///         `max_delay`.
template <class Aggregator>
    requires(!std::convertible_to<Aggregator, std::size_t>)
[[nodiscard]] auto aggregate(Aggregator aggregator, aggregate_options options = {}) {
    return detail::own_aggregate_stage<Aggregator>(std::move(aggregator), std::move(options));
}

}  // namespace weir

#endif
