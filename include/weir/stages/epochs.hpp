// weir stages: sources that repeat: epochs of a range, and of the draws of a sampler
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_EPOCHS_HPP
#define WEIR_STAGES_EPOCHS_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/weighted_sampler.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::ptrdiff_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::make_shared
#include <optional>     // for std::optional
#include <type_traits>  // for std::decay_t
#include <utility>      // for std::declval, std::exchange, std::forward, std::move
#include <vector>       // for std::vector

namespace weir {

/// The number of epochs or repetitions of an endless source.
inline constexpr std::uint64_t endless = INT64_MAX;

namespace detail {

inline constexpr auto negative_count =
    "weir: the number of epochs, or times, was negative; for ever is weir::endless";
inline constexpr auto empty_for_ever =
    "weir: the container given to epochs is empty, and so is each of its endless epochs; give their number";
inline constexpr auto no_draws_for_ever =
    "weir: the sampler given to draws has no draws for this rank, as its size is 0 or below the number of "
    "ranks, so each of its endless epochs is empty; give their number";

// A source of epochs (passes over the data). `make`: see `make_epoch`; `count`: the number of epochs.
template <class Make>
struct epochs_of {
    Make make;
    std::uint64_t count;
};

// Returns the source of an epoch's items: the result of `make(epoch)` or of `make()`, or a copy of `make`.
template <class Make>
decltype(auto) make_epoch(Make& make, std::uint64_t epoch) {
    if constexpr (callable<Make, std::uint64_t>) {
        return make(epoch);
    } else if constexpr (callable<Make>) {
        return make();
    } else {
        return Make(make);  // a container: each epoch gets a copy
    }
}
template <class Make>
using made_epoch_t = std::decay_t<decltype(detail::make_epoch(std::declval<Make&>(), 0))>;

template <class Make>
concept makes_epochs =
    (callable<Make, std::uint64_t> || callable<Make> || can_be_copied<Make>) &&
    source_like<made_epoch_t<Make>> && !is_epoch_item<typename items_of<made_epoch_t<Make>>::item>;

// Declared only: the result of a wrong call of `epochs`, so that its static assertion is the only error.
template <class Make>
epochs_of<Make> refused_epochs();

template <class Make>
class items_of<epochs_of<Make>> {  // gives the items of such a source, one by one
    using inner = items_of<made_epoch_t<Make>>;

  public:
    using item = epoch_item<typename inner::item>;  // an item, or the mark that ends an epoch
    static constexpr bool waits = inner::waits;     // whether `next` returns a task

    explicit items_of(epochs_of<Make>&& from) : from_(std::move(from)) {}

    std::optional<item> next()
        requires(!waits)
    {
        if (epoch_ == from_.count) return std::nullopt;
        begin();
        return mark_ends(items_->next());
    }
    // Gives the next item. Resumes the coroutine that awaits the task, on that coroutine's executor.
    task<std::optional<item>> next(coroutine_env& env)
        requires waits
    {
        if (epoch_ == from_.count) co_return std::nullopt;
        begin();
        auto pending = items_->next(env);
        auto value = co_await std::move(pending);
        co_return mark_ends(std::move(value));
    }

  private:
    void begin() {  // the current epoch, unless it has begun
        if (!items_) items_.emplace(made_epoch_t<Make>(detail::make_epoch(from_.make, epoch_)));
    }
    std::optional<item> mark_ends(std::optional<typename inner::item>&& value) {  // none: the epoch ends
        if (value) return std::optional<item>(std::in_place, std::move(*value), provenance(epoch_));
        items_.reset();
        return item::end_of_epoch(epoch_++);
    }

    epochs_of<Make> from_;
    std::uint64_t epoch_ = 0;
    std::optional<inner> items_;  // of the current epoch; none: it has not begun
};

// The result of `repeat`: the items of `epochs_of` as one stream, which a repetition without items ends.
template <class Make>
struct repetitions_of {
    epochs_of<Make> each;
};

template <class Make>
class items_of<repetitions_of<Make>> {
    using inner = items_of<epochs_of<Make>>;

  public:
    using item = carried_value_t<typename inner::item>;
    static constexpr bool waits = inner::waits;

    explicit items_of(repetitions_of<Make>&& from) : items_(std::move(from.each)) {}

    std::optional<item> next()
        requires(!waits)
    {
        std::optional<item> result;
        while (is_end_of_repetition(items_.next(), result)) {
        }
        return result;
    }
    // Resumes the coroutine that awaits the task, on that coroutine's executor.
    task<std::optional<item>> next(coroutine_env& env)
        requires waits
    {
        std::optional<item> result;
        bool more = true;
        while (more) {
            auto pending = items_.next(env);
            auto got = co_await std::move(pending);
            more = is_end_of_repetition(std::move(got), result);
        }
        co_return result;
    }

  private:
    // Returns whether `next` is the mark that ends a repetition. False: `result` has an item, or all ended.
    bool is_end_of_repetition(std::optional<typename inner::item>&& next, std::optional<item>& result) {
        if (!next) return false;
        if (next->is_mark()) return std::exchange(gave_any_, false);
        gave_any_ = true;
        result.emplace(std::move(next->value()));
        return false;
    }

    inner items_;
    bool gave_any_ = false;  // whether this repetition has given an item
};

// Records which draws (samples) of a run are consumed, and makes checkpoints from this record. An item's
// provenance (its epoch and draws) calls `settle` once, on any thread: when the consumer, or a last stage
// such as `for_each`, has taken the item, or when a stage has dropped the item.
class progress_recorder final : public progress_listener {
  public:
    explicit progress_recorder(weir::checkpoint start) : progress_(std::move(start)) {}

    // Records all draws of an item under one lock, so that no checkpoint contains only a part of a batch.
    // `from`: the draws of the item; `taken`: the item has left the pipeline; false: a stage has dropped it.
    // If an allocation fails, the record is incomplete, and `checkpoint` throws from then on.
    WEIR_INLINE void settle(origin& from, bool taken) noexcept override;

    const progress_recorder* recorder() const noexcept override { return this; }

    weir::checkpoint checkpoint() const;

  private:
    mutable standard_platform::mutex lock_;
    progress progress_;
    // The number of draws and batches of which the consumer has taken some items, and others are to come.
    std::ptrdiff_t num_torn_ = 0;
    std::exception_ptr error_;  // of an allocation that failed: the record is incomplete
};

// The result of `draws`: a source of draws, which ends before the epoch with the number `epochs`.
template <class Sampler>
struct draws_of {
    Sampler sampler;
    std::uint64_t epochs;
};

template <class Sampler>
class items_of<draws_of<Sampler>> {
  public:
    using item = epoch_item<draw>;
    static constexpr bool waits = false;

    explicit items_of(draws_of<Sampler>&& from)
        : from_(std::move(from)), progress_(std::make_shared<progress_recorder>(from_.sampler.start())) {}

    void add_progress(run_context& run) {  // called by the source, in its constructor
        run.add_progress(from_.sampler.epoch(), progress_);
        run_ = &run;
    }

    std::optional<item> next() {
        const std::uint64_t epoch = from_.sampler.epoch();
        if (epoch >= from_.epochs) return std::nullopt;
        std::optional<draw> next = from_.sampler.next();
        if (!next) return item::end_of_epoch(epoch);
        provenance item_provenance(epoch);
        if (run_->why_no_checkpoint().empty()) {
            const std::uint64_t position = next->padded ? origin::no_position : next->position;
            item_provenance = provenance(epoch, std::make_shared<origin>(position, *progress_));
        }
        return std::optional<item>(std::in_place, std::move(*next), std::move(item_provenance));
    }

  private:
    draws_of<Sampler> from_;
    std::shared_ptr<progress_recorder> progress_;  // records which draws are consumed
    run_context* run_ = nullptr;                   // set by add_progress()
};

}  // namespace detail

/// A source that repeats a range, and marks the end of each repetition, an epoch:
///
///     weir::source(weir::epochs([&](std::uint64_t epoch) { return shuffled(files, epoch); }, 90))
///
/// All items of an epoch leave a stage before any item of the next epoch does. At the end of an epoch
/// `aggregate` gives, or drops, a batch that is not full. Functions see the number of the epoch
/// (`invocation::epoch`), and the consumer can iterate over the epochs (`run::epochs`).
///
/// \param make   a function that returns a range, a generator or an async_generator. Called with the number
///               of the epoch, from 0, or without arguments. Or a container, of which each epoch gets a copy.
/// \param count  the number of epochs; `weir::endless` by default.
/// Ends:   after `count` epochs, also empty ones. If endless epochs are empty, a loop over items never ends.
/// Errors: `std::invalid_argument` for a negative `count`, for endless epochs of an empty container, and when
///         a run starts in which `draws` begin with a later epoch. An exception from `make` or from its range
///         ends the stream and fails the run, as in any `source`.
template <class Make>
[[nodiscard]] auto epochs(Make&& make, std::uint64_t count = endless) {
    using kept = std::decay_t<Make>;
    static_assert(
        detail::makes_epochs<kept>,
        "weir: epochs needs a function that gives a range or a generator, of the epoch's number or of "
        "nothing, or a container that can be copied; this is neither, or has epochs itself, as draws have");
    if constexpr (!detail::makes_epochs<kept>) {
        return detail::refused_epochs<std::vector<draw>>();
    } else if constexpr (!detail::can_be_kept<Make>) {
        return detail::refused_epochs<detail::kept_t<Make>>();
    } else {
        detail::refuse_negative(count, detail::negative_count);
        detail::refuse_if(count == endless && detail::is_empty_container(make), detail::empty_for_ever);
        return detail::epochs_of<kept>{std::forward<Make>(make), count};
    }
}

/// The items of `epochs(make, count)` as one stream without epochs: `source(repeat(files, 3))`.
///
/// Errors: as for `epochs`; but an empty container gives nothing.
/// Ends:   after `count` repetitions, or after one without items.
template <class Make>
[[nodiscard]] auto repeat(Make&& make, std::uint64_t count = endless) {
    detail::refuse_negative(count, detail::negative_count);
    detail::repetitions_of<std::decay_t<Make>> all{weir::epochs(std::forward<Make>(make), 0)};
    all.each.count = count;
    return all;
}

/// The draws of a sampler, as a source of epochs from which a run can be resumed (`run::checkpoint`):
///
///     weir::source(weir::draws(weir::sampler({.size = n, .shard = mine, .resume = saved}), 90))
///
/// \param epochs  the source ends before the epoch with this number, from 0, also in a resumed run.
/// Errors: `std::invalid_argument` for negative `epochs`, and for endless epochs of a sampler whose
///         `has_draws` is false. Errors of the sampler's `next` end the stream and fail the run.
/// Cost:   one allocation a draw, if the run has a checkpoint.
template <class Sampler>
    requires detail::sampler_like<Sampler>
[[nodiscard]] auto draws(Sampler sampler, std::uint64_t epochs = endless) {
    detail::refuse_negative(epochs, detail::negative_count);
    detail::refuse_if(epochs == endless && !sampler.has_draws(), detail::no_draws_for_ever);
    return detail::draws_of<Sampler>{std::move(sampler), epochs};
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/epochs.ipp>
#endif

#endif
