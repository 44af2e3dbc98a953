// weir cuda: the stage that copies device memory back to the host while the GPU works on the next items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TO_HOST_HPP
#define WEIR_CUDA_TO_HOST_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/copier.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::size_t
#include <functional>   // for std::identity
#include <memory>       // for std::make_shared, std::shared_ptr
#include <optional>     // for std::optional
#include <span>         // for std::span
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t, std::is_same_v
#include <utility>      // for std::declval, std::move

namespace weir::cuda {

/// Options of one `to_host` or `to_vectors` stage.
struct to_host_options {
    std::string name = "to_host";  ///< for statistics, failures and reports
    std::size_t depth = 2;         ///< items copied at a time, at least 1; each needs a block of the pool
    std::size_t capacity = 2;      ///< in items, of the queue behind the stage
    /// The stream of the copies; none: each run makes a stream.
    std::optional<stream> on = std::nullopt;
    bool timed = true;  ///< whether two events record when each copy begins and ends
};

/// An item, and the copy of its selected parts on the host.
template <class Item, class Data>
struct host_batch {
    Item rest;  ///< the item; the copied buffers are empty, and their memory is freed
    Data data;  ///< the copy
};

namespace detail {

// Copies all pieces of device memory of an item into a page-locked block, a `lease`. Items acquire blocks in
// the order of their numbers: a later item keeps its block until all earlier items have left the stage.
// `mine`: the item's place in this order. Returns none if the run was stopped, or the time limit was over,
// before the item had its turn and a block.
inline task<std::optional<lease>> fetch(copying_run& s, item_order::place& mine, std::span<fetched> from,
                                        const invocation& call) {
    for (const fetched& each : from) each.memory.check_present();
    const std::size_t bytes = from.back().at + from.back().memory.bytes();
    if (!mine.has_turn()) {
        const bool has_turn = co_await mine.wait_for_turn(call.stop());
        if (!has_turn) co_return std::nullopt;
    }
    std::optional<lease> block = s.pool->try_acquire(bytes);
    if (!block) {
        const measured_wait wait(s.log.get());
        block = co_await s.pool->acquire(bytes, call.stop());
        wait.was_for_block();
        if (!block) co_return std::nullopt;
    }
    mine.leave();
    try {
        for (fetched& each : from) {
            each.memory.hand_over(s.copies);
            each.memory.queue_copy_to(block->bytes().data() + each.at, s.log.get());
        }
        co_await s.copies.done();
    } catch (...) {
        // A copy to the block may be pending; not if the stream is captured: then nothing was queued.
        cudaStream_t const copies = s.copies.get();
        if (!is_captured(copies)) s.copies.shared()->of()->wait_for_stream(copies);
        throw;
    }
    co_return std::move(block);
}

// The function of a slot (a worker of the stage). `Part`: selects the part of an item to copy. `Vectors`:
// whether the results are std::vector; false: the results are in page-locked memory.
template <class Part, bool Vectors>
class fetching_slot {
    static constexpr bool is_whole = std::is_same_v<Part, std::identity>;
    template <class Item>
    using found_in = decltype(find_parts(std::declval<const Part&>(), std::declval<Item&>()));
    template <class Item>
    using data_of =
        std::conditional_t<Vectors, typename found_in<Item>::vectors, typename found_in<Item>::pinned>;
    template <class Item>
    using result_of = std::conditional_t<is_whole, data_of<Item>, host_batch<Item, data_of<Item>>>;

  public:
    fetching_slot(std::shared_ptr<copying_run> shared, Part part)
        : shared_(std::move(shared)), part_(std::move(part)) {}

    // Returns none if the run was stopped, or the time limit was over, before the item had a block.
    template <class Item>
        requires has_buffers<Part, Item>
    task<std::optional<result_of<Item>>> operator()(Item item, const invocation& call) {
        item_order::place mine(shared_->order, call.item());
        try {
            found_in<Item> parts = find_parts(part_, item);
            std::optional<lease> block = co_await fetch(*shared_, mine, parts.memory, call);
            if (!block) co_return std::nullopt;
            co_return give(std::move(item), parts.arrays_in(*std::move(block)));
        } catch (const error& e) {
            if (!e.stage().empty()) throw;
            throw error(e.status(), e.call(), call.stage());
        }
    }

    // Refuses at compile time an item that can't be copied.
    template <class Item>
        requires(!has_buffers<Part, Item>)
    std::optional<int> operator()(Item, const invocation&) {
        static_assert(sizeof(Item) == 0,
                      "weir: to_host copies a device_buffer; name the part of the item that is one, if there "
                      "is: to_host(gpu, pool, {}, &device_batch<batch, float>::data)");
        return std::nullopt;
    }

    // Called if the stage skips the call for an item: later items don't wait for that item.
    void left_out(const invocation& call) noexcept { shared_->order.leave(call.item()); }

  private:
    // Returns the result for an item: its copy, or the item together with the copy of the selected part.
    template <class Item>
    static result_of<Item> give(Item&& item, typename found_in<Item>::pinned there) {
        if constexpr (is_whole) {
            static_cast<void>(item);
            return data<Item>(std::move(there));
        } else {
            return result_of<Item>{std::move(item), data<Item>(std::move(there))};
        }
    }
    // Returns the copy, or vectors with its elements.
    template <class Item>
    static data_of<Item> data(typename found_in<Item>::pinned there) {
        if constexpr (Vectors) {
            return found_in<Item>::copy_of(there);
        } else {
            return there;
        }
    }

    std::shared_ptr<copying_run> shared_;
    Part part_;
};

// Makes the stage: a pipe, whose slots have a function each, and share a new `copying_run` in each run.
template <bool Vectors, class Part>
auto fetching_stage(context& gpu, pinned_pool& pool, to_host_options options, Part part) {
    auto make = [&gpu, &pool, on = options.on, timed = options.timed] {
        return std::make_shared<copying_run>(gpu, on, &pool, timed, "to_host", "to_host copies");
    };
    using slots = slots_of_run<fetching_slot<Part, Vectors>, Part, decltype(make)>;
    return weir::pipe(weir::per_slot(slots(std::move(part), std::move(make))),
                      {.name = std::move(options.name),
                       .concurrency = options.depth,
                       .output_order = output_order::input,
                       .capacity = options.capacity});
}

}  // namespace detail

/// The stage that copies each `device_buffer` back to the host, into a block of page-locked memory. The copy
/// waits for all work on the buffer's stream: the stream of its last `hand_over`, or that of
/// `device_pool::acquire`. The copy of a result of `to_device` without `hand_over` waits for the copy to the
/// device only.
///
///     auto p = std::move(inputs) | weir::pipe(infer) | weir::cuda::to_host(gpu, results) | weir::sink();
///     for (auto& result : run) write(result.data(), result.size());  // a pinned_buffer: the block is yours
///
/// \param pool  blocks large enough for the largest item: `depth` of them, and one for each result that is in
///             use behind this stage. While no block is free, the stage waits. Not the pool into which
///             batches are collated: a batch in its last block may wait for device memory that an item of
///             this stage holds, while this item waits for a block.
/// \param part  selects the `device_buffer` or `device_buffers` of an item: a pointer to a member, or a
///              function that returns a reference. Several `device_buffer`s, by `parts`, are copied into one
///              block. Default: the item itself.
/// \returns  a stage whose result for each buffer is a `pinned_buffer` of its elements; for several a
///           `pinned_buffers`; with `part`, a `host_batch`. In a context without a device, the same
///           in ordinary memory.
/// Order:    that of the items.
/// Suspends: while no block is free, and until the copy is done.
/// Errors:   `weir::cuda::error`, with the name of the stage, fails the item. `std::invalid_argument` fails
///           an item that is larger than a block, or whose buffer was moved away. This function throws
///           `weir::cuda::error` if no stream can be made, and `std::invalid_argument` if the blocks are not
///           page-locked, or if the stream is another GPU's. Copying the stage, as in `start` of an lvalue
///           pipeline, throws the same errors.
/// Lifetime: `gpu` and `pool` outlive the runs.
/// Units:    the run's statistics have the bytes, and the time that the device copied:
///           `stage_stats::transfers`.
template <class Part = std::identity>
[[nodiscard]] auto to_host(context& gpu, pinned_pool& pool, to_host_options options = {}, Part part = {}) {
    return detail::fetching_stage<false>(gpu, pool, std::move(options), std::move(part));
}

/// The same as `to_host`, with results in a `std::vector`; for several parts, in a tuple of vectors. The
/// block is returned to its pool at once; the price is another copy on the host.
template <class Part = std::identity>
[[nodiscard]] auto to_vectors(context& gpu, pinned_pool& pool, to_host_options options = {}, Part part = {}) {
    return detail::fetching_stage<true>(gpu, pool, std::move(options), std::move(part));
}

}  // namespace weir::cuda

#endif
