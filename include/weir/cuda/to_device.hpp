// weir floor 14: the stage that copies batches to a GPU while the next ones are packed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TO_DEVICE_HPP
#define WEIR_CUDA_TO_DEVICE_HPP

#include <weir/clock.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device_buffer.hpp>
#include <weir/cuda/event.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/detail/env.hpp>
#include <weir/executor.hpp>
#include <weir/invocation.hpp>
#include <weir/pipe.hpp>
#include <weir/stage_options.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>
#include <weir/task.hpp>

#include <cstddef>      // for std::size_t
#include <cstring>      // for std::memcpy
#include <deque>        // for std::deque
#include <functional>   // for std::identity, std::invoke
#include <memory>       // for std::shared_ptr
#include <mutex>        // for std::mutex, std::scoped_lock
#include <optional>     // for std::optional
#include <ranges>       // for std::ranges::contiguous_range
#include <string>       // for std::string
#include <type_traits>  // for std::is_trivially_copyable_v
#include <utility>      // for std::as_const, std::move

namespace weir::cuda {

/// When `to_device` gives a batch to the next stage.
enum class hand_on {
    at_once,     ///< when the copy is queued; its consumer's stream waits for it: `device_buffer::hand_over`
    when_copied  ///< once the copy is done: for a consumer that has no stream
};

/// Of one `to_device`.
struct to_device_options {
    std::string name = "to_device";  ///< for statistics, failures and reports
    /// How many batches are packed or copied at the same time, at least 1. While one is copied, the next
    /// ones are packed; each needs a block of the pool meanwhile.
    std::size_t depth = 2;
    hand_on when = hand_on::at_once;  ///< when the next stage gets a batch
    std::size_t capacity = 2;         ///< in items, of the queue behind the stage; they lie on the device
};

/// A batch of which a part was copied to the device, and the rest of it.
template <class Batch, class T>
struct device_batch {
    Batch host;             ///< as it came, the part that was copied included
    device_buffer<T> data;  ///< the copy
};

namespace detail {

template <class View>
concept in_a_row = std::ranges::contiguous_range<View> && std::ranges::sized_range<View> &&
                   std::is_trivially_copyable_v<std::ranges::range_value_t<View>>;

// Which copies are under way: as many as `depth`, or as the stage has slots if it was given more.
class copies_under_way {
  public:
    explicit copies_under_way(std::size_t depth) : free_(depth) {}

    // The place of one copy. Whoever has taken it waits for `after` first, the oldest one; null: for none.
    class place {
      public:
        explicit place(copies_under_way& all) : after(all.begin()), all_(all) {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() {
            if (!filled_) all_.give_up();
        }

        void fill(shared_event copy) {
            all_.add(std::move(copy));
            filled_ = true;
        }

        const shared_event after;

      private:
        copies_under_way& all_;
        bool filled_ = false;
    };

  private:
    shared_event begin() {
        const std::scoped_lock held(lock_);
        shared_event oldest;
        if (free_ != 0) {
            --free_;
        } else if (!row_.empty()) {
            oldest = std::move(row_.front());
            row_.pop_front();
        }
        return oldest;
    }
    void add(shared_event copy) {
        const std::scoped_lock held(lock_);
        row_.push_back(std::move(copy));
    }
    void give_up() {
        const std::scoped_lock held(lock_);
        ++free_;
    }

    std::mutex lock_;
    std::size_t free_;
    std::deque<shared_event> row_;
};

// What the slots of one stage in one run share.
struct copier {
    copier(context& gpu, pinned_pool& blocks, std::size_t at_once, hand_on at)
        : copies(gpu), pool(&blocks), depth(at_once), when(at), under_way(at_once),
          log(std::make_shared<transfer_log>()) {}

    stream copies;
    pinned_pool* pool;
    std::size_t depth;
    hand_on when;
    copies_under_way under_way;
    std::shared_ptr<transfer_log> log;
};

template <class Part>
class copying_slot {
    template <class Batch>
    using view_of = std::invoke_result_t<const Part&, const Batch&>;
    template <class Batch>
    using element_of = std::ranges::range_value_t<view_of<Batch>>;
    static constexpr bool is_whole = std::is_same_v<Part, std::identity>;
    template <class Batch>
    using result_of = std::conditional_t<is_whole, device_buffer<element_of<Batch>>,
                                         device_batch<Batch, element_of<Batch>>>;

  public:
    copying_slot(std::shared_ptr<copier> shared, Part part)
        : shared_(std::move(shared)), part_(std::move(part)) {}

    // Nothing: the run was stopped, or the stage's time is over, before there was a free block.
    template <class Batch>
        requires in_a_row<view_of<Batch>>
    task<std::optional<result_of<Batch>>> operator()(Batch batch, const invocation& call) {
        try {
            const auto& view = std::invoke(part_, std::as_const(batch));
            std::optional<device_memory> there =
                co_await send(std::ranges::data(view), std::ranges::size(view) * sizeof(element_of<Batch>),
                              call.stop());
            if (!there) co_return std::nullopt;
            device_buffer<element_of<Batch>> copy(std::move(*there));
            if constexpr (is_whole) {
                co_return std::move(copy);
            } else {
                co_return result_of<Batch>{std::move(batch), std::move(copy)};
            }
        } catch (const error& e) {
            if (!e.stage().empty()) throw;
            throw error(e.status(), e.call(), call.stage());
        }
    }

    // What can't be copied gets a sentence.
    template <class Batch>
        requires(!requires { requires in_a_row<view_of<Batch>>; })
    std::optional<int> operator()(Batch, const invocation&) {
        static_assert(
            sizeof(Batch) == 0,
            "weir: to_device copies elements that lie in a row and are trivially copyable, as those of "
            "a std::vector<float>; name the part of the batch to copy if there is one: "
            "to_device(gpu, pool, {}, &batch::pixels)");
        return std::nullopt;
    }

  private:
    task<std::optional<device_memory>> send(const void* from, std::size_t bytes, stop_token stop) {
        copier& s = *shared_;
        if (s.copies.shared()->of()->on_host()) {
            device_memory there(s.copies, bytes, s.log);
            if (bytes != 0) std::memcpy(there.data(), from, bytes);
            co_return std::move(there);
        }
        std::optional<lease> block = s.pool->try_acquire(bytes);
        if (!block) {
            const executor& clock = *weir::detail::current_executor();
            const time_point begin = clock.now();
            block = co_await s.pool->acquire(bytes, std::move(stop));
            s.log->waited(clock.now() - begin);
            if (!block) co_return std::nullopt;
        }
        if (bytes != 0) std::memcpy(block->bytes().data(), from, bytes);
        copies_under_way::place place(s.under_way);
        if (place.after && !place.after->is_over()) co_await until_over(place.after->of(), place.after);
        device_memory there(s.copies, bytes, s.log);
        there.fill_from(*block, s.copies);
        place.fill(there.end());
        if (s.when == hand_on::when_copied) co_await s.copies.done();
        co_return std::move(there);
    }

    std::shared_ptr<copier> shared_;
    Part part_;
};

// Makes the slots of a stage. A copy of it is for another run, with a stream and figures of its own.
template <class Part>
class copier_of_run {
  public:
    copier_of_run(context& gpu, pinned_pool& pool, const to_device_options& options, Part part)
        : gpu_(&gpu), part_(std::move(part)),
          shared_(std::make_shared<copier>(gpu, pool, options.depth, options.when)) {}
    copier_of_run(const copier_of_run& other)
        : gpu_(other.gpu_), part_(other.part_),
          shared_(std::make_shared<copier>(*gpu_, *other.shared_->pool, other.shared_->depth,
                                           other.shared_->when)) {}
    copier_of_run(copier_of_run&&) noexcept = default;
    copier_of_run& operator=(const copier_of_run&) = delete;
    ~copier_of_run() = default;

    copying_slot<Part> operator()() const { return copying_slot<Part>(shared_, part_); }

    std::optional<transfer_stats> transfers() const {
        if (gpu_->on_host()) return std::nullopt;
        return shared_->log->stats();
    }

  private:
    context* gpu_;
    Part part_;
    std::shared_ptr<copier> shared_;
};

}  // namespace detail

/// The stage that copies each batch to a GPU: packs it into page-locked memory, and has the device copy it
/// from there while the next one is packed.
///
///     auto p = weir::source(files) | weir::pipe(collate) | weir::cuda::to_device(gpu, pool) | weir::sink();
///     for (auto& batch : run) { batch.hand_over(training); train(batch, training); }
///
/// \param pool  of blocks that take the largest batch; `depth` of them, or more. Others may use it, too.
/// \param part  which part of a batch is copied: a pointer to a member, or a function of it that gives a
///              contiguous range of trivially copyable elements; as it is: the batch itself.
/// \returns  a stage that gives, for each batch, a `device_buffer` of its elements; or, of a part, a
///           `device_batch`. In a context without a device, the same with a copy on the host.
/// Order:    as the batches came.
/// Suspends: while no block is free (it holds back the stage before), while more than `depth` copies are
///           under way, and, with `hand_on::when_copied`, until a copy is done.
/// Errors:   `weir::cuda::error`, with the name of the stage, fails the batch, as in any stage; here, if no
///           stream can be made. `std::invalid_argument` fails a batch that is larger than a block.
/// Lifetime: `gpu` and `pool` outlive the runs.
/// Units:    the run's statistics have the bytes, the time that the device copied, and what share of it the
///           consumer's stream didn't notice: `stage_stats::transfers`.
template <class Part = std::identity>
[[nodiscard]] auto to_device(context& gpu, pinned_pool& pool, to_device_options options = {},
                             Part part = {}) {
    return weir::pipe(weir::per_slot(detail::copier_of_run<Part>(gpu, pool, options, std::move(part))),
                      {.name = std::move(options.name),
                       .concurrency = options.depth,
                       .output_order = output_order::input,
                       .capacity = options.capacity});
}

}  // namespace weir::cuda

#endif
