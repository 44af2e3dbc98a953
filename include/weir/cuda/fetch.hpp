// weir cuda, internal: copies several pieces of device memory into one page-locked block; used by `to_host`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_FETCH_HPP
#define WEIR_CUDA_FETCH_HPP

#include <weir/cuda/context.hpp>
#include <weir/cuda/copier.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/item_order.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/run/invocation.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <memory>     // for std::make_shared, std::shared_ptr
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir::cuda::detail {

// The state that all slots of one `to_host` stage share in one run.
struct fetcher {
    // `on`: the stream that copies; none: a new stream.
    fetcher(context& gpu, pinned_pool& blocks, const std::optional<stream>& on, bool timed)
        : copies(on ? *on : stream(gpu)), pool(&blocks),
          log(timed && !gpu.on_host() ? std::make_shared<transfer_log>() : nullptr) {
        if (!gpu.on_host() && !blocks.page_locked()) {
            throw std::invalid_argument(
                "weir: to_host copies into page-locked memory, and this pinned_pool was made from a context "
                "without a device; make it from one of a GPU");
        }
        check_place(copies.shared()->of(), gpu, "to_host");
    }

    stream copies;
    pinned_pool* pool;
    item_order order;
    std::shared_ptr<transfer_log> log;
};

// A piece of device memory, and the offset in the block of its copy, in bytes.
struct fetched {
    fetched(device_memory from, std::size_t to) noexcept : memory(std::move(from)), at(to) {}
    device_memory memory;
    std::size_t at;
};

// Copies all pieces into a block of the pool. Items acquire blocks in the order of their numbers: a later
// item keeps its block until all earlier items have left the stage. Returns none if the run was stopped, or
// the time limit was over, before a block was free.
inline task<std::optional<lease>> fetch(fetcher& s, std::span<fetched> from, const invocation& call) {
    const std::size_t bytes = from.back().at + from.back().memory.bytes();
    item_order::place mine(s.order, call.item());
    if (!mine.is_first()) {
        const bool goes = co_await mine.first(call.stop());
        if (!goes) co_return std::nullopt;
    }
    std::optional<lease> block = s.pool->try_acquire(bytes);
    if (!block) {
        const noted_wait wait(s.log.get());
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
        s.copies.shared()->of()->wait_for_stream(s.copies.get());  // a copy to the block may be pending
        throw;
    }
    co_return std::move(block);
}

}  // namespace weir::cuda::detail

#endif
