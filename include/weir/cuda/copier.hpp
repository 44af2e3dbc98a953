// weir cuda, internal: copies batches to a GPU in the order of their numbers, for `to_device`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_COPIER_HPP
#define WEIR_CUDA_COPIER_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <deque>      // for std::deque
#include <map>        // for std::map
#include <memory>     // for std::make_shared, std::shared_ptr
#include <mutex>      // for std::mutex, std::scoped_lock
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir::cuda::detail {

// Makes items acquire resources in the order of their numbers, which begin with 0 and have no gaps. In a
// stage that keeps the order of its items, a later item holds its memory, on the host and the device, until
// all earlier items have left. If an earlier item waited for these resources, the stage would deadlock.
class item_order {
    using gate = channel<char>;  // at which one item waits for its turn
    struct call {
        bool is_done = false;              // leave() was called before it was the call's turn
        std::shared_ptr<gate> waits_at{};  // gets an item when it is the call's turn; null: no wait
    };

  public:
    item_order() = default;
    item_order(const item_order&) = delete;
    item_order& operator=(const item_order&) = delete;

    // Called once for each number, when the item with this number will acquire nothing more. If all earlier
    // items have left, too, the next item has its turn. If there is no memory for the record, the order is
    // given up: all items continue.
    void leave(std::uint64_t number) noexcept {
        std::shared_ptr<gate> first;
        try {
            const std::scoped_lock held(lock_);
            calls_[number].is_done = true;
            while (!calls_.empty() && calls_.begin()->first == next_ && calls_.begin()->second.is_done) {
                calls_.erase(calls_.begin());
                ++next_;
            }
            if (!calls_.empty() && calls_.begin()->first == next_) first = calls_.begin()->second.waits_at;
        } catch (...) {
            give_up_order();
        }
        if (first) static_cast<void>(first->try_put(0));
    }

    // The place of one call of the stage's function in the order. The destructor calls leave(). The function
    // makes it before anything that may throw: an item that failed without a place would keep all later items
    // waiting.
    class place {
      public:
        place(item_order& all, std::uint64_t number) noexcept : all_(all), number_(number) {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() { leave(); }

        // Whether all earlier items have left, or the order was given up.
        bool has_turn() const {
            const std::scoped_lock held(all_.lock_);
            return all_.order_given_up_ || all_.next_ == number_;
        }
        // Waits for the turn. The result is false if a stop was requested first.
        task<bool> wait_for_turn(stop_token stop) const {
            const std::shared_ptr<gate> at = all_.gate_of(number_);
            if (!at) co_return true;
            const std::optional<char> turn = co_await at->get(std::move(stop));
            co_return turn.has_value();
        }
        void leave() noexcept {
            if (!left_) all_.leave(number_);
            left_ = true;
        }

      private:
        item_order& all_;
        const std::uint64_t number_;
        bool left_ = false;
    };

  private:
    // Returns the channel at which the item waits for its turn; null: the item has its turn, or the order was
    // given up.
    std::shared_ptr<gate> gate_of(std::uint64_t number) {
        auto made = std::make_shared<gate>(1, clock_);
        const std::scoped_lock held(lock_);
        if (order_given_up_ || next_ == number) return nullptr;
        calls_[number].waits_at = made;
        return made;
    }
    // Gives the order up: all items that wait continue.
    void give_up_order() noexcept {
        const std::scoped_lock held(lock_);
        order_given_up_ = true;
        for (auto& [number, c] : calls_) {
            if (c.waits_at) static_cast<void>(c.waits_at->try_put(0));
        }
    }

    clock_executor clock_;  // of the channels at which calls wait
    std::mutex lock_;
    std::uint64_t next_ = 0;               // the number of the item whose turn it is
    bool order_given_up_ = false;          // all items continue
    std::map<std::uint64_t, call> calls_;  // calls that wait, or that left before their turn
};

// Limits the number of pending copies to the greater of two numbers: `depth`, and the number of slots
// (workers of the stage).
class pending_copies {
  public:
    explicit pending_copies(std::size_t depth) : free_(depth) {}

    // The permission for one copy. The owner of the permission first waits until the copy `after`, the oldest
    // pending one, is done; null: no wait.
    class place {
      public:
        explicit place(pending_copies& all) : after(all.begin()), all_(all) {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() {
            if (!filled_) all_.give_up();
        }

        void fill(shared_event copy) {  // the copy is queued, and ends at `copy`
            all_.add(std::move(copy));
            filled_ = true;
        }

        const shared_event after;

      private:
        pending_copies& all_;
        bool filled_ = false;
    };

  private:
    shared_event begin() {  // for `place`: its `after`
        const std::scoped_lock held(lock_);
        shared_event oldest;
        if (free_ != 0) {
            --free_;
        } else if (!ends_.empty()) {
            oldest = std::move(ends_.front());
            ends_.pop_front();
        }
        return oldest;
    }
    void add(shared_event copy) {  // `copy`: the end of a queued copy
        const std::scoped_lock held(lock_);
        ends_.push_back(std::move(copy));
    }
    void give_up() {  // the copy was not queued
        const std::scoped_lock held(lock_);
        ++free_;
    }

    std::mutex lock_;
    std::size_t free_;               // the number of copies that may still begin without a wait
    std::deque<shared_event> ends_;  // the ends of the pending copies, the oldest first
};

// `of`: the state of a stream or of memory. Throws `std::invalid_argument` if its device index is not that of
// the context, or if only one of the two has a GPU.
inline void check_place(const std::shared_ptr<context_state>& of, const context& gpu, const char* stage) {
    if (of->on_host() == gpu.on_host() && of->device_index() == gpu.device_index()) return;
    throw std::invalid_argument(std::string("weir: the stream and the memory of a ") + stage +
                                " are those of another GPU than its context; make them from that one");
}

// The state that all slots of one `to_device` or `to_host` stage share in one run.
struct copying_run {
    // `on`: the stream that copies; none: a new stream. `blocks`: null: no block is needed. `stage`, `use`:
    // the stage, and how the stage uses the blocks, for error messages.
    copying_run(context& gpu, const std::optional<stream>& on, pinned_pool* blocks, bool timed,
                const char* stage, const char* use)
        : copies(on ? *on : stream(gpu)), pool(blocks),
          log(timed && !gpu.on_host() ? std::make_shared<transfer_log>() : nullptr) {
        if (pool != nullptr) check_blocks(*pool, gpu, use);
        check_place(copies.shared()->of(), gpu, stage);
    }

    stream copies;  // runs the copies
    pinned_pool* pool;
    item_order order;                   // in which items acquire memory and blocks
    std::shared_ptr<transfer_log> log;  // null: no measurement
};

// The state that the slots of a `to_device` stage share in addition to a `copying_run`.
struct copier : copying_run {
    struct settings {
        pinned_pool* pool;  // null: batches are in page-locked memory already
        std::size_t depth;  // the number of copies that may be pending
        bool when_copied;   // send() returns when the copy is done; false: when the copy is queued
        bool timed;
        std::optional<stream> on;                 // none: each run makes a stream
        std::shared_ptr<device_account> account;  // gives the device memory; null: each run makes an account
    };

    copier(context& gpu, const settings& s)
        : copying_run(gpu, s.on, s.pool, s.timed, "to_device", "to_device packs batches"),
          when_copied(s.when_copied), pending(s.depth),
          account(s.account ? s.account
                            : std::make_shared<device_account>(gpu.shared(), nullptr, 0, "device memory")) {
        check_place(account->of(), gpu, "to_device");
    }

    bool when_copied;
    pending_copies pending;
    std::shared_ptr<device_account> account;
};

// Copies a batch to the device. `block`: the page-locked memory that contains the batch; none: send() packs
// `parts` into a block of the pool or, without a device, into the memory of the result. Items acquire memory
// and blocks in the order of their numbers, as a later item keeps both until all earlier items have left the
// stage. `mine`: the item's place in this order. Returns none if the run was stopped, or the time limit was
// over, before the item had its turn, memory and, for packing, a block.
inline task<std::optional<device_memory>> send(copier& s, item_order::place& mine, std::optional<lease> block,
                                               std::span<const host_part> parts, std::size_t bytes,
                                               const invocation& call) {
    const bool on_host = s.account->of()->on_host();
    const bool packs = !block && !on_host;
    if (!mine.has_turn()) {
        const bool has_turn = co_await mine.wait_for_turn(call.stop());
        if (!has_turn) co_return std::nullopt;
    }
    // Acquires device memory before the block: a block in use comes back without the help of later stages, so
    // an item may keep its memory while it waits for a block.
    std::optional<device_memory> there = device_memory::try_take(s.account, s.copies, bytes, s.log);
    if (!there) {
        const measured_wait wait(s.log.get());
        there = co_await device_memory::take(s.account, s.copies, bytes, s.log, call.stop());
        wait.was_for_memory();
        if (!there) co_return std::nullopt;
    }
    if (packs) {
        block = s.pool->try_acquire(bytes);
        if (!block) {
            const measured_wait wait(s.log.get());
            block = co_await s.pool->acquire(bytes, call.stop());
            wait.was_for_block();
            if (!block) co_return std::nullopt;
        }
    }
    mine.leave();
    if (on_host && !block) {
        pack(parts, there->data());
        co_return std::move(there);
    }
    if (packs) pack(parts, block->bytes().data());
    pending_copies::place place(s.pending);
    if (place.after && !place.after->is_over()) co_await until_over(place.after->of(), place.after);
    there->fill_from(*block);
    place.fill(there->copied());
    if (s.when_copied) co_await s.copies.done();
    co_return std::move(there);
}

// `send` for a batch in page-locked memory, and for one that has to be packed.
inline task<std::optional<device_memory>> send_block(copier& s, item_order::place& mine, lease block,
                                                     const invocation& call) {
    if (block.bytes().data() == nullptr) {
        throw std::invalid_argument(
            "weir: a lease or pinned_buffer that was given away has nothing to copy; each goes to a device "
            "once");
    }
    const std::size_t bytes = block.bytes().size();
    return send(s, mine, std::optional<lease>(std::move(block)), {}, bytes, call);
}
inline task<std::optional<device_memory>> send_ranges(copier& s, item_order::place& mine,
                                                      std::span<const host_part> parts,
                                                      const invocation& call) {
    return send(s, mine, std::nullopt, parts, size_of(parts), call);
}

}  // namespace weir::cuda::detail

#endif
