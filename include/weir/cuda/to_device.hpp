// weir cuda: the stage that copies batches to a GPU while the next ones are packed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TO_DEVICE_HPP
#define WEIR_CUDA_TO_DEVICE_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/copier.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::size_t
#include <functional>   // for std::identity, std::invoke
#include <memory>       // for std::make_shared, std::shared_ptr
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t, std::is_same_v
#include <utility>      // for std::as_const, std::move

namespace weir::cuda {

/// When `to_device` gives a batch to the next stage.
enum class hand_on {
    at_once,     ///< when the copy is queued; `hand_over` makes the stream that uses the batch wait for it
    when_copied  ///< when the copy is done: for code that uses the batch without a stream
};

/// Options of one `to_device` stage.
struct to_device_options {
    std::string name = "to_device";  ///< for statistics, failures and reports
    /// How many batches are packed or copied at the same time, at least 1. While one batch is copied, the
    /// next ones are packed. Each of these batches holds a block of the `pinned_pool`.
    std::size_t depth = 2;
    hand_on when = hand_on::at_once;  ///< when the next stage gets a batch
    std::size_t capacity = 2;         ///< of the queue behind the stage, in items, which lie on the device
    /// The stream of the copies; may have other users, too. None: each run makes a stream.
    std::optional<stream> on = std::nullopt;
    /// The pool of device memory for the batches; limits how much is used. Null: the memory comes from the
    /// context, without a limit. Outlives the runs.
    device_pool* memory = nullptr;
    /// Whether three events a batch record when its copy begins and ends, and when the stream that uses the
    /// batch (`hand_over`) can begin with it. If false, without a device, or in a run without statistics,
    /// `stage_stats::transfers` is empty.
    bool timed = true;
};

namespace detail {

// The function of a slot (a worker of the stage). `Part`: selects the part of a batch to copy. `Packs`: a
// batch is packed into a block of a `pinned_pool`, unless the selected part is such a block already.
template <class Part, bool Packs>
class copying_slot {
    static constexpr bool is_whole = std::is_same_v<Part, std::identity>;
    template <class Batch>
    using result_of = std::conditional_t<is_whole, typename copied_part<Part, Batch>::whole,
                                         typename copied_part<Part, Batch>::rest>;

  public:
    copying_slot(std::shared_ptr<copier> shared, Part part)
        : shared_(std::move(shared)), part_(std::move(part)) {}

    // Returns none if the run is stopped, or the time limit ends, before the item has its turn, device memory
    // and, for packing, a block.
    template <class Batch>
        requires(can_be_copied<Part, Batch> && (Packs || has_block<Part, Batch>))
    task<std::optional<result_of<Batch>>> operator()(Batch batch, const invocation& call) {
        item_order::place mine(shared_->order, call.item());
        try {
            if constexpr (has_block<Part, Batch>) {
                lease block = block_of(std::invoke(part_, batch));
                std::optional<device_memory> there =
                    co_await send_block(*shared_, mine, std::move(block), call);
                if (!there) co_return std::nullopt;
                using buffer = typename copied_part<Part, Batch>::whole;
                co_return give(std::move(batch), buffer(*std::move(there)));
            } else {
                const auto ranges = ranges_of(part_, std::as_const(batch));
                const auto pieces = ranges.pieces();
                std::optional<device_memory> there = co_await send_ranges(*shared_, mine, pieces, call);
                if (!there) co_return std::nullopt;
                co_return give(std::move(batch), ranges.on_device(*std::move(there)));
            }
        } catch (const error& e) {
            if (!e.stage().empty()) throw;
            throw error(e.status(), e.call(), call.stage());
        }
    }

    // Refuses at compile time a batch that can't be copied.
    template <class Batch>
        requires(!can_be_copied<Part, Batch>)
    std::optional<int> operator()(Batch, const invocation&) {
        static_assert(
            sizeof(Batch) == 0,
            "weir: to_device copies elements that lie in a row and are trivially copyable, as those of "
            "a std::vector<float>; name the part of the batch to copy if there is one: "
            "to_device(gpu, pool, {}, &batch::pixels)");
        return std::nullopt;
    }
    // Refuses at compile time a batch that would have to be packed, as there is no pool.
    template <class Batch>
        requires(can_be_copied<Part, Batch> && !Packs && !has_block<Part, Batch>)
    std::optional<int> operator()(Batch, const invocation&) {
        static_assert(
            sizeof(Batch) == 0,
            "weir: to_device without a pool copies what lies in page-locked memory already: a lease, "
            "or a pinned_buffer from pool.acquire<float>(n); all else is packed into blocks of a "
            "pool: to_device(gpu, pool)");
        return std::nullopt;
    }

    // Called if the stage skips the call for an item: later items don't wait for that item.
    void left_out(const invocation& call) noexcept { shared_->order.leave(call.item()); }

  private:
    // Returns the result for a batch: its copy, or the batch together with the copy of the selected part.
    template <class Batch, class Copy>
    static result_of<Batch> give(Batch&& batch, Copy copy) {
        if constexpr (is_whole) {
            static_cast<void>(batch);
            return copy;
        } else {
            return result_of<Batch>{std::move(batch), std::move(copy)};
        }
    }

    std::shared_ptr<copier> shared_;
    Part part_;
};

// Makes the stage: a pipe, whose slots have a function each, and share a new `copier` in each run.
template <bool Packs, class Part>
auto copying_stage(context& gpu, pinned_pool* pool, to_device_options options, Part part) {
    copier::settings how{.pool = pool,
                         .depth = options.depth,
                         .when_copied = options.when == hand_on::when_copied,
                         .timed = options.timed,
                         .on = options.on,
                         .account = options.memory == nullptr ? nullptr : options.memory->shared()};
    auto make = [&gpu, how = std::move(how)] { return std::make_shared<copier>(gpu, how); };
    using slots = slots_of_run<copying_slot<Part, Packs>, Part, decltype(make)>;
    return weir::pipe(weir::per_slot(slots(std::move(part), std::move(make))),
                      {.name = std::move(options.name),
                       .concurrency = options.depth,
                       .output_order = output_order::input,
                       .capacity = options.capacity});
}

}  // namespace detail

/// The stage that copies each batch to a GPU: the stage packs the batch into page-locked memory, and the
/// device copies it from there while the next batch is packed. A batch, or its `part`, that is a
/// `pinned_buffer` or a `lease` is not packed.
///
///     auto p = weir::source(files) | weir::pipe(collate) | weir::cuda::to_device(gpu, pool) | weir::sink();
///     for (auto& batch : run) { batch.hand_over(training); train(batch, training); }
///
/// \param pool  at least `depth` blocks, each large enough for the largest batch. The pool may have other
///              users, also with another GPU.
/// \param part  selects the part of a batch to copy: a pointer to a member, or a function of the batch that
///              returns a contiguous range of trivially copyable elements; or several of these, by `parts`.
///              Default: the batch itself.
/// \returns  a stage whose result for each batch is a `device_buffer` of its elements; with `part`, a
///           `device_batch`. In a context without a device, the same with a copy on the host.
/// Order:    that of the batches.
/// Suspends: while no block is free, while too little device memory is free, and while `depth` earlier copies
///           are pending. With `hand_on::when_copied`, also until the batch is copied. Meanwhile the stage
///           before waits, too.
/// Errors:   `weir::cuda::error`, with the name of the stage, fails the batch, as in any stage.
///           `std::invalid_argument` fails a batch that is larger than a block, or than the pool of device
///           memory. This function throws `weir::cuda::error` if no stream can be made, and
///           `std::invalid_argument` if the blocks are not page-locked, or if the stream or the memory is
///           another GPU's. Copying the stage, as in `start` of an lvalue pipeline, throws the same errors.
/// Lifetime: `gpu` and `pool` outlive the runs.
/// Units:    `stage_stats::transfers` has the bytes, the time of the copies on the device, and the share of
///           this time that was hidden: the stream of the `hand_over` did not wait for the copy.
template <class Part = std::identity>
[[nodiscard]] auto to_device(context& gpu, pinned_pool& pool, to_device_options options = {},
                             Part part = {}) {
    return detail::copying_stage<true>(gpu, &pool, std::move(options), std::move(part));
}

/// The same as `to_device` above, for batches that were collated into page-locked memory: a `pinned_buffer`
/// or `lease`, or a batch whose `part` is one. The stage takes the block from the batch, and returns the
/// block to its pool when the copy is done.
///
///     auto collate = [&pool](std::vector<image> images) -> weir::task<weir::cuda::pinned_buffer<float>> {
///         auto batch = co_await pool.acquire<float>(images.size() * pixels);
///         fill(batch, images);
///         co_return std::move(batch);
///     };
///     auto p = weir::source(files) | weir::pipe(collate) | weir::cuda::to_device(gpu) | weir::sink();
template <class Part = std::identity>
[[nodiscard]] auto to_device(context& gpu, to_device_options options = {}, Part part = {}) {
    return detail::copying_stage<false>(gpu, nullptr, std::move(options), std::move(part));
}

}  // namespace weir::cuda

#endif
