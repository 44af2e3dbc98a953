// weir stages: the stage that makes batches in blocks of a pool: each item is written into its place
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_BATCH_SLOTS_HPP
#define WEIR_STAGES_BATCH_SLOTS_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/batch_places.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/running_batch_slots.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>          // for std::size_t
#include <cstdint>          // for SIZE_MAX
#include <memory>           // for std::unique_ptr
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <span>             // for std::span
#include <string>           // for std::string
#include <type_traits>      // for std::remove_cvref_t
#include <utility>          // for std::forward, std::move
#include <vector>           // for std::vector

namespace weir {

/// The form of the batches of `batch_slots`.
struct batch_shape {
    std::size_t places = 1;  ///< items in a full batch, at least 1
    /// The number of elements of each place, at least 1. The places lie one behind the other without gaps.
    std::size_t elements = 1;
};

/// The options of `batch_slots`.
struct batch_slots_options {
    std::string name = {};  ///< the name in reports; empty: that of the function's class, or `batch_slots#2`
    /// True: a batch that is not full at the end of the stream, or of an epoch (pass over the data), is
    /// dropped. False: the stage gives the smaller batch.
    bool drop_last = false;
    /// How many items are written at the same time, into one batch or several; so many threads may call the
    /// function at once.
    std::size_t concurrency = 1;
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// `output_order::input`: items get places in the order of the input, and batches leave in this order.
    /// Only an item that gets the place of a failed or dropped item stands earlier than in the input.
    /// `output_order::completion`: places are given out as slots (workers of the stage) request them, and
    /// each batch leaves when it is full.
    weir::output_order output_order = weir::output_order::completion;
    /// The capacity of the queue behind the stage, in batches; at least 1.
    std::size_t capacity = 2;
    /// How many items may fail; one more stops the run. Not set: failures count towards the run's limit. A
    /// failed item has no place in a batch, unless it fails by `after` of a hook: then it stays in its batch.
    std::optional<failure_limit> max_failures = std::nullopt;
    /// How long one call of the function may take, without the wait for a place; 0: no limit. A longer call
    /// fails the item: see `stage_options::time_limit`.
    duration time_limit = duration(0);
    /// Objects of the user that are called around the stage and around each call of its function.
    std::vector<shared_hook> hooks = {};
    /// The source location that reports show: of the braces of these options, or of the call without any.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// Asserts that the pool gives blocks for elements of type `T`.
template <class Pool, class T>
struct is_block_source {
    static constexpr bool value = block_source<Pool, T>;
    static_assert(block_source<Pool, T>,
                  "weir: batch_slots<T> takes its blocks from a pool that has try_acquire<T>(n) and "
                  "acquire<T>(n, stop), such as a block_pool or a cuda::pinned_pool; the types are those of "
                  "is_block_source<Pool, T> in this message");
};
template <class Pool, class T>
using pool_block_t =
    typename decltype(std::declval<Pool&>().template try_acquire<T>(std::size_t()))::value_type;

// A batch with its memory. `Provenance`: names the draws (samples of the source) that an item was made from,
// for checkpoints (records of consumed items).
template <class T, class Block, class Provenance>
class batch_in_block final : public open_batch {
  public:
    batch_in_block(Block&& block, const batch_form& form)
        : open_batch(form.places), block_(std::move(block)), elements_(form.elements), first_(block_.data()),
          provenances_(form.places) {
        refuse_if(block_.size() < form.places * elements_,
                  "weir: the pool of this batch_slots gave an array that has fewer elements than a batch");
    }

    std::span<T> place(std::size_t i) const noexcept { return {first_ + i * elements_, elements_}; }
    Provenance& provenance_of(std::size_t i) noexcept { return provenances_[i]; }
    // Called before batches leave: one full batch, or, at the end of an epoch or of the input, all that are
    // left. Moves the items of this batch and of the batches behind it (`next`) together: at most the last
    // batch with items is not full. Drops items with numbers above `last`, at which the stage has ended.
    void close_gaps(std::uint64_t last) {
        batch_in_block* to = this;
        std::size_t count = 0;
        for (open_batch* each = this; each != nullptr; each = each->next.get()) {
            auto& from = static_cast<batch_in_block&>(*each);
            for (std::size_t i = 0; i < from.size(); ++i) {
                if (from.number_at(i) == no_item || from.number_at(i) > last) continue;
                if (count == to->size()) {
                    to->keep(count);
                    to = static_cast<batch_in_block*>(to->next.get());
                    count = 0;
                }
                if (to != &from || count != i) to->take_from(from, i, count);
                ++count;
            }
        }
        for (; to != nullptr; to = static_cast<batch_in_block*>(to->next.get())) {
            to->keep(count);
            count = 0;
        }
    }
    Block& block() noexcept { return block_; }

  private:
    // Moves item `i` of the batch `from` to place `to` of this batch.
    void take_from(batch_in_block& from, std::size_t i, std::size_t to) {
        for (std::size_t k = 0; k < elements_; ++k) place(to)[k] = std::move(from.place(i)[k]);
        provenance_of(to) = std::move(from.provenance_of(i));
    }
    // Keeps only the first `count` items.
    void keep(std::size_t count) {
        if (count != this->size()) block_.resize(count * elements_);
        this->set_filled(count);
    }

    Block block_;                          // the memory of the batch
    const std::size_t elements_;           // in each place
    T* const first_;                       // the first element of the block
    std::vector<Provenance> provenances_;  // by place
};

// A base of the state of an iteration (the work on one item). Stores the second argument with which
// `function_stage::call` calls the function: the place of the item.
template <class T>
struct with_place {
    std::span<T>* second_argument;
};
// The traits of the call of the function; asserts that they fit. Its name is part of the compiler's message.
template <class Function, class T>
struct the_writer {
    template <class Item>
    struct is_given : call_traits<Function, Item, std::span<T>> {
        using result = typename call_traits<Function, Item, std::span<T>>::result;
        template <class Block>
        using gives = Block;
        static_assert(is_given::fits,
                      "weir: the function of a batch_slots<T> is called with what the stage before it gives "
                      "and the place for it, [](photo p, std::span<T> place), and this one can't be; the "
                      "types are those of the_writer<...>::is_given<...> in this message");
        static_assert(!is_given::fits || std::is_void_v<result> || std::is_same_v<result, bool>,
                      "weir: the function of a batch_slots writes its result into the place, and returns "
                      "nothing, or a bool: false drops the item; the types are those of "
                      "the_writer<...>::is_given<...> in this message");
    };
};

// The types of a stage. `C`, `D`: the items of the queues before and behind the stage; with epochs, each is
// wrapped with its epoch and origin.
template <class T, class Pool, class Given, class C>
struct batch_slots_types {
    using call =
        typename the_writer<typename function_of<Given>::type, T>::template is_given<carried_value_t<C>>;
    using element = T;
    using block = pool_block_t<Pool, T>;
    using D = carry_t<C, typename call::template gives<block>>;
    using batch = batch_in_block<T, block, typename epoch_item_traits<C>::provenance>;

    struct state : with_place<T> {
        place_request asked;
        std::span<T> place_of_item;
        bool is_kept = true;                // the function has not dropped the item
        bool lacks_memory_to_wait = false;  // no memory for the task that waits for a place: fails the stage
        typename epoch_item_traits<C>::provenance item_provenance;
        // Batches that the slot has to put: a full one; at the end of an epoch or of the input, all.
        std::unique_ptr<open_batch> to_give;
        std::optional<D> result;
    };
};

template <class T, class Pool, class Function>
struct batch_slots_stage : stage_base {
    static constexpr const char* kind = "batch_slots";

    template <class G>
    batch_slots_stage(Pool& from, batch_shape form, G&& f, const batch_slots_options& o)
        : stage_base{kept_options::of_function<Function>(common_options_of(o), kind)}, pool(&from),
          shape(form), function(std::forward<G>(f)), drop_last(o.drop_last) {
        options.output_order = o.output_order;
        refuse_if(shape.places == 0 || shape.elements == 0,
                  "weir: a batch without places, or with places of no elements, has room for nothing; give "
                  "batch_slots .places and .elements of 1 or more");
        refuse_if(was_negative(shape.places) || was_negative(shape.elements) ||
                      shape.elements > SIZE_MAX / sizeof(T) / shape.places,
                  "weir: the places of a batch, or the elements of a place, were negative or far too many");
        if constexpr (requires { from.block_bytes(); }) {
            refuse_if(shape.places * shape.elements * sizeof(T) > from.block_bytes(),
                      "weir: a full batch of this batch_slots is larger than a block of its pool; make the "
                      "blocks of the pool larger, or the batches smaller");
        }
    }

    template <class C>
    using output = typename batch_slots_types<T, Pool, Function, C>::D;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        using types = batch_slots_types<T, Pool, Function, C>;
        using running = stage_of<running_batch_slots<types, Pool, Function, C, Policy>>;
        const batch_form form{self.shape.places, self.shape.elements, self.drop_last};
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return run.template append<running>(self.options, in, *self.pool, form,
                                            std::forward<Self>(self).function);
    }

    Pool* pool;
    batch_shape shape;
    Function function;
    bool drop_last;
};

}  // namespace detail

/// Makes batches without a copy: several slots (workers) write their items into places of one block of
/// memory, for example decoded images into page-locked memory from which a GPU copies. Replaces a `pipe`, an
/// `aggregate` and a function that collates.
///
///     weir::block_pool blocks(64 * pixels, 6);
///     const auto decode = [](const file& f, std::span<std::uint8_t> place) { f.decode(place); };
///     auto p = weir::source(files) |
///              weir::batch_slots<std::uint8_t>(blocks, {.places = 64, .elements = pixels}, decode,
///                                              {.name = "decode", .concurrency = 8}) |
///              weir::sink(3);
///
/// A batch leaves when all of its places are filled. If an item fails or is dropped, the next item that
/// requests a place gets this place: a batch has no hole. Only the last batch of the stream, and of each
/// epoch, may be smaller: the items of unfinished batches then move together.
///
/// \param pool      gives the blocks: a `block_pool`, a `cuda::pinned_pool`, or another `block_source`.
///                  Needs a block for each batch that is written to, waits or is in use; 2 or more let the
///                  stage work while a batch is in use. Outlives the runs.
/// \param shape     see `batch_shape`. A result is an array of the pool, with one place for each item.
/// \param function  called with an item (moved in), the `std::span<T>` of its place, whose elements are not
///                  initialised, and, if `function` requires a third argument, with the `invocation`. Returns
///                  nothing; or a bool: false drops the item; or an awaitable of nothing or a bool.
///                  `per_slot`, which makes a function for each slot, works as for a `pipe`.
/// Suspends: while the pool has no free block and no begun batch has a place. One slot then waits for the
///           block; in statistics, its state is `await`, and that of the others `wait_turn`.
///           `transfer_stats::block_wait` has the time of waits for blocks. Items of an epoch wait until the
///           batches of the epoch before have left the stage; with `output_order::input`, an item waits until
///           all earlier items have places.
/// Order:    see `batch_slots_options::output_order`. No batch holds items of two epochs.
/// Errors:   an exception from the function fails the item, and so does one from the pool: see
///           `batch_slots_options::max_failures`. `std::invalid_argument` for a size of 0, for negative
///           numbers, and for a batch that is larger than a block of the pool.
/// Threads:  slots write to their places at the same time; each place belongs to one item.
/// Cost:     two locks for an item, one more in order; beside the array, for each place of a batch, 17 bytes
///           without epochs, 40 with.
template <class T, class Pool, class Function>
[[nodiscard]] auto batch_slots(Pool& pool, batch_shape shape, Function&& function,
                               const batch_slots_options& options = {}) {
    if constexpr (detail::is_block_source<Pool, T>::value) {
        return detail::batch_slots_stage<T, Pool, detail::kept_t<Function>>(pool, shape,
                                                                            std::forward<Function>(function),
                                                                            options);
    } else {
        return detail::no_stage();  // the assertion of `is_block_source` has failed
    }
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class T, class Pool, class Function = detail::not_deduced, class Options = batch_slots_options,
          class = detail::refused_t<Function, Options, batch_slots_options>>
void batch_slots(Pool&, batch_shape, Function&&, Options&& = {}) noexcept;

}  // namespace weir

#endif
