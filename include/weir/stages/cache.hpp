// weir stages: `cache`, which records the items of the first epoch, and repeats them in later epochs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_CACHE_HPP
#define WEIR_STAGES_CACHE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// The options of `cache`: `name` and `where`, as in `stage_options`, and the `capacity` of the queue behind
/// the stage, in items, at least 1.
using cache_options = detail::queue_options;

namespace detail {

// The item type behind a cache of items of type `T`; asserts that they can be copied.
template <class T>
struct the_cache_of {
    using type = epoch_item<T>;
    static_assert(std::is_copy_constructible_v<T>,
                  "weir: a cache gives each item once an epoch, so its items have to be copyable; what only "
                  "moves can be held by std::shared_ptr; the type is that of the_cache_of<...> in this "
                  "message");
};

// The result of one iteration (one item, or the end of an epoch) of the stage's worker, for the next queue:
// an item, or a mark, the message that ends an epoch.
template <class D>
struct cache_result {
    std::optional<D> value;  // none: the stage ends without a further item or mark
    bool is_end = false;     // `value` is a mark
};

// Takes the items of the first epoch from the queue before the stage, and those of later epochs from memory.
template <class C, class Policy>
class running_cache : public stage_kind<C, epoch_item<carried_value_t<C>>, Policy> {
    using T = carried_value_t<C>;
    using D = epoch_item<T>;
    using item_traits = epoch_item_traits<C>;
    using base = stage_kind<C, D, Policy>;

  public:
    using iteration = typename base::template iteration_with<cache_result<D>>;
    static constexpr stage_traits traits{.works_without_item = true, .numbers_results = true};

    running_cache(run_context& run, const stage_options& options, std::uint64_t epochs,
                  channel<C, Policy>& in, channel<D, Policy>& out)
        : base(run, "cache", options, &in, &out), left_(epochs), epoch_(run.first_epoch()) {}

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    // After the first epoch the stage makes items, as a source does, and waits for the run's limit of bytes.
    std::uint64_t byte_sources(const iteration&) const noexcept {
        return is_first_ ? 0 : detail::base_of(*this->out_).sources();
    }
    // After the first epoch, takes nothing from the queue.
    void take(intake<channel<C, Policy>>& next, typename base::slot&, iteration& it) noexcept {
        it.place.epoch = epoch_;
        next.prepare(*this->in_, !is_first_);
    }
    bool has_work(const iteration& it) const noexcept {  // an item to record, or one of the record to give
        return it.item != nullptr ? !it.place.mark : !is_first_ && at_ < record_.size();
    }
    bool counts_as_task(const iteration& it) const noexcept { return it.value && !it.is_end; }
    // If the input has ended because the run failed or was stopped, gives no mark: `it.value` stays empty,
    // and the stage ends.
    void work(iteration& it) {
        if (has_work(it)) {
            it.item != nullptr ? record(it) : play(it);
        } else if (!it.input_ended || !this->may_end_early()) {  // else the record may be incomplete
            it.is_end = true;
            it.value.emplace(D::end_of_epoch(epoch_));
            if (is_first_) this->in_->cancel();
            is_first_ = false;
            at_ = 0;
            ++epoch_;
            if (left_ != no_end) --left_;
        }
    }
    any_item result_for_hooks(iteration& it) const noexcept {
        return it.value && !it.is_end ? any_item(std::as_const(it.value->value())) : any_item();
    }
    D* next_result(iteration& it) noexcept { return detail::pointer_to(it.value); }
    bool is_finished(const iteration& it) const noexcept {
        if (!it.is_end) return !it.value;
        return left_ == 0 || record_.empty() || this->may_end_early();
    }

  private:
    // Makes the result of an item that was taken, and keeps a copy for the later epochs.
    void record(iteration& it) {
        if (left_ > 1) record_.push_back(item_traits::value_of(*it.item));
        it.value.emplace(std::move(item_traits::value_of(*it.item)),
                         of_an_epoch(item_traits::provenance_of(*it.item)));
    }
    // Makes the result from the next item of the record; in the last epoch, moves the item.
    void play(iteration& it) {
        T& place = record_[at_++];
        if (left_ == 1) {
            it.value.emplace(std::move(place), provenance(epoch_));
        } else {
            T copy(place);
            it.value.emplace(std::move(copy), provenance(epoch_));
        }
    }
    // The origin of a recorded item, which checkpoints use; a source without epochs gives none.
    provenance of_an_epoch(provenance&& given) const noexcept { return std::move(given); }
    provenance of_an_epoch(no_provenance) const noexcept { return provenance(epoch_); }

    static constexpr std::uint64_t no_end = INT64_MAX;  // the value of `weir::endless`
    std::uint64_t left_;                                // epochs to give, the current one included
    std::uint64_t epoch_;                               // the current epoch
    bool is_first_ = true;                              // the current epoch is the one that is recorded
    std::size_t at_ = 0;                                // index of the next item in the record
    std::vector<T> record_;                             // the items of the first epoch
};

struct cache_stage : stage_base {
    static constexpr const char* kind = "cache";

    cache_stage(std::uint64_t n, const cache_options& o)
        : stage_base{detail::stage_options_of(o, kind)}, epochs(n) {
        refuse_if(epochs == 0,
                  "weir: cache(0) would give nothing at all; give it the number of epochs, with the one that "
                  "it records, or none for weir::endless");
        refuse_negative(epochs,
                        "weir: the number of a cache's epochs was negative; give it 1 or more, or none for "
                        "weir::endless");
    }

    template <class C>
    using output = typename the_cache_of<carried_value_t<C>>::type;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "caches: it gives one item after the other, its concurrency is 1");
        run.refuse_unless(!run.is_in_split(), self.options,
                          "is a cache in a branch of a split, where each part of a batch counts as an epoch; "
                          "put it before or behind the split");
        run.set_first_epoch(run.first_epoch());  // so that no later source begins with another epoch
        run.set_no_checkpoint(self.options, "repeats what its source can't go on from");
        return run.template append<stage_of<running_cache<C, Policy>>>(self.options, in, self.epochs);
    }

    std::uint64_t epochs;
};

}  // namespace detail

/// Records the items of the first epoch (pass over the data) while they pass; without epochs, those of the
/// whole stream. Then ends the stages before the cache, and gives copies of the recorded items in each
/// remaining epoch; in the last epoch, the items themselves.
///
///     weir::source(files) | weir::pipe(decode) | weir::cache(90) | weir::pipe(augment) | weir::sink()
///
/// \param epochs  the number of epochs, the recorded one included; at least 1. By default `weir::endless`.
/// Order:  each epoch has the order of the first epoch. Behind the stage the run has epochs, whatever its
///         source.
/// Errors: `std::invalid_argument` for 0 epochs, for negative numbers, and when a run starts with a cache in
///         a branch of a `split`, or with a source that begins with a later epoch than the cache. A failure
///         that stops a stage before the cache ends the stream: no epoch is repeated. The record lacks items
///         whose failure was tolerated. An exception from a copy stops the run.
/// Ends:   after the last epoch, and after a first epoch without items.
/// Cost:   the memory of all items of an epoch; one copy of each item in each epoch, none in the last epoch.
/// A run with a cache has no checkpoint (record of consumed items), unless the cache is on the side of a
/// `tee`, whose results are dropped. If a source continues from a checkpoint within an epoch, the cache
/// records only the remaining items of this epoch.
[[nodiscard]] inline auto cache(std::uint64_t epochs = INT64_MAX, cache_options options = {}) {
    return detail::cache_stage(epochs, options);
}

}  // namespace weir

#endif
