// weir cuda: the stage that copies what lies on a GPU back to the host while more is worked on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TO_HOST_HPP
#define WEIR_CUDA_TO_HOST_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_parts.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/fetch.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/task/task.hpp>

#include <cstddef>      // for std::size_t
#include <functional>   // for std::identity
#include <memory>       // for std::make_shared, std::shared_ptr
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t, std::is_same_v
#include <utility>      // for std::move

namespace weir::cuda {

/// Of one `to_host` or `to_vectors`.
struct to_host_options {
    std::string name = "to_host";  ///< for statistics, failures and reports
    std::size_t depth = 2;         ///< how many are copied at the same time, at least 1; each needs a block
    std::size_t capacity = 2;      ///< in items, of the queue behind the stage
    /// Which stream copies; none: each run makes one of its own.
    std::optional<stream> on = std::nullopt;
    bool timed = true;  ///< whether the device notes when each copy begins and ends, by two events
};

/// An item of which a part was copied back from the device, and the rest of it.
template <class Item, class Data>
struct host_batch {
    Item rest;  ///< as it came; but what was copied was given away
    Data data;  ///< the copy
};

namespace detail {

// `Vectors`: what it gives, what lies in page-locked memory or `std::vector`.
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
    fetching_slot(std::shared_ptr<fetcher> shared, Part part)
        : shared_(std::move(shared)), part_(std::move(part)) {}

    // Nothing: the run was stopped before there was a free block.
    template <class Item>
        requires has_buffers<Part, Item>
    task<std::optional<result_of<Item>>> operator()(Item item, const invocation& call) {
        try {
            found_in<Item> parts = find_parts(part_, item);
            std::optional<lease> block = co_await fetch(*shared_, parts.memory, call);
            if (!block) co_return std::nullopt;
            co_return give(std::move(item), parts.in(*std::move(block)));
        } catch (const error& e) {
            if (!e.stage().empty()) throw;
            throw error(e.status(), e.call(), call.stage());
        }
    }

    // Rejects what can't be copied at compile time.
    template <class Item>
        requires(!has_buffers<Part, Item>)
    std::optional<int> operator()(Item, const invocation&) {
        static_assert(sizeof(Item) == 0,
                      "weir: to_host copies a device_buffer; name the part of the item that is one, if there "
                      "is: to_host(gpu, pool, {}, &device_batch<batch, float>::data)");
        return std::nullopt;
    }

    // A call for an item that wasn't made: others don't wait for it.
    void left_out(const invocation& call) noexcept { shared_->order.leave(call.item()); }

  private:
    template <class Item>
    static result_of<Item> give(Item&& item, typename found_in<Item>::pinned there) {
        if constexpr (is_whole) {
            static_cast<void>(item);
            return data<Item>(std::move(there));
        } else {
            return result_of<Item>{std::move(item), data<Item>(std::move(there))};
        }
    }
    template <class Item>
    static data_of<Item> data(typename found_in<Item>::pinned there) {
        if constexpr (Vectors) {
            return found_in<Item>::copy_of(there);
        } else {
            return there;
        }
    }

    std::shared_ptr<fetcher> shared_;
    Part part_;
};

// Makes the slots of a stage. A copy of it is for another run, with a stream and figures of its own.
template <class Part, bool Vectors>
class fetcher_of_run {
  public:
    fetcher_of_run(context& gpu, pinned_pool& pool, to_host_options options, Part part)
        : gpu_(&gpu), pool_(&pool), options_(std::move(options)), part_(std::move(part)),
          shared_(std::make_shared<fetcher>(gpu, pool, options_.on, options_.timed)) {}
    fetcher_of_run(const fetcher_of_run& other)
        : fetcher_of_run(*other.gpu_, *other.pool_, other.options_, other.part_) {}
    fetcher_of_run(fetcher_of_run&&) noexcept = default;
    fetcher_of_run& operator=(const fetcher_of_run&) = delete;
    ~fetcher_of_run() = default;

    fetching_slot<Part, Vectors> operator()() const { return fetching_slot<Part, Vectors>(shared_, part_); }

    // Before the first slot is made.
    void measure_nothing() noexcept { shared_->log = nullptr; }
    std::optional<transfer_stats> transfers() const {
        if (!shared_->log) return std::nullopt;
        return shared_->log->stats();
    }

  private:
    context* gpu_;
    pinned_pool* pool_;
    to_host_options options_;
    Part part_;
    std::shared_ptr<fetcher> shared_;
};

template <bool Vectors, class Part>
auto fetching_stage(context& gpu, pinned_pool& pool, to_host_options options, Part part) {
    stage_options how{.name = options.name,
                      .concurrency = options.depth,
                      .output_order = output_order::input,
                      .capacity = options.capacity};
    return weir::pipe(weir::per_slot(
                          fetcher_of_run<Part, Vectors>(gpu, pool, std::move(options), std::move(part))),
                      std::move(how));
}

}  // namespace detail

/// The stage that copies each `device_buffer` back to the host, into a block of page-locked memory, behind
/// what was queued on the stream to which the buffer belongs: that of a `device_pool::acquire`, or of its
/// last `hand_over`.
///
///     auto p = std::move(inputs) | weir::pipe(infer) | weir::cuda::to_host(gpu, results) | weir::sink();
///     for (auto& result : run) write(result.data(), result.size());  // a pinned_buffer: the block is yours
///
/// \param pool  of blocks that take the largest item: `depth` of them, and those that are still in use
///              behind this stage; while there is none, the stage waits. Not the one into which batches
///              are collated that wait for the memory of those here.
/// \param part  which part of an item is a `device_buffer`, or `device_buffers`: a pointer to a member, or a
///              function that gives a reference to it; or several that are a `device_buffer`, by `parts`,
///              which come back in one block; as it is: the item itself.
/// \returns  a stage that gives, for each buffer, a `pinned_buffer` of its elements, and of several a
///           `pinned_buffers`; or, of a part, a `host_batch`. In a context without a device, the same.
/// Order:    as the items came.
/// Suspends: while no block is free, and until the copy is done.
/// Errors:   `weir::cuda::error`, with the name of the stage, fails the item; here, if no stream can be made.
///           `std::invalid_argument` fails an item that is larger than a block; and is thrown here if the
///           blocks are not page-locked, or if the stream is another GPU's.
/// Lifetime: `gpu` and `pool` outlive the runs.
/// Units:    the run's statistics have the bytes, and the time that the device copied:
///           `stage_stats::transfers`.
template <class Part = std::identity>
[[nodiscard]] auto to_host(context& gpu, pinned_pool& pool, to_host_options options = {}, Part part = {}) {
    return detail::fetching_stage<false>(gpu, pool, std::move(options), std::move(part));
}

/// The same, and gives a `std::vector` of the elements, of several parts a tuple of such: the block goes back
/// at once, for the price of another copy on the host.
template <class Part = std::identity>
[[nodiscard]] auto to_vectors(context& gpu, pinned_pool& pool, to_host_options options = {}, Part part = {}) {
    return detail::fetching_stage<true>(gpu, pool, std::move(options), std::move(part));
}

}  // namespace weir::cuda

#endif
