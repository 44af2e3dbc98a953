// weir cuda, internal: lets the calls of a stage's function acquire resources in the order of their items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_ITEM_ORDER_HPP
#define WEIR_CUDA_ITEM_ORDER_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/context.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstdint>   // for std::uint64_t
#include <map>       // for std::map
#include <memory>    // for std::make_shared, std::shared_ptr
#include <mutex>     // for std::mutex, std::scoped_lock
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::cuda::detail {

// In a stage that keeps the order of its items, a later item holds its resources (a block, memory) until all
// earlier items have left. If an earlier item waited for these resources, the stage would deadlock. So items
// acquire them in the order of their numbers, which begin with 0 and have no gaps.
class item_order {
    using gate = channel<char>;
    struct call {
        bool is_done = false;
        std::shared_ptr<gate> waits_at{};
    };

  public:
    item_order() = default;
    item_order(const item_order&) = delete;
    item_order& operator=(const item_order&) = delete;

    // The item acquires nothing any more. Called once for each number. If memory for the record lacks, the
    // order is given up, and all items continue.
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
            lose_count();
        }
        if (first) static_cast<void>(first->try_put(0));
    }

    // The place of one call in the order.
    class place {
      public:
        place(item_order& all, std::uint64_t number) noexcept : all_(all), number_(number) {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() { leave(); }

        bool is_first() const {
            const std::scoped_lock held(all_.lock_);
            return all_.lost_count_ || all_.next_ == number_;
        }
        // Waits until all earlier items have left. False: a stop was requested.
        task<bool> first(stop_token stop) const {
            const std::shared_ptr<gate> at = all_.gate_of(number_);
            if (!at) co_return true;
            const std::optional<char> goes = co_await at->get(std::move(stop));
            co_return goes.has_value();
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
    // Null: the item is the first.
    std::shared_ptr<gate> gate_of(std::uint64_t number) {
        auto made = std::make_shared<gate>(1, clock_);
        const std::scoped_lock held(lock_);
        if (lost_count_ || next_ == number) return nullptr;
        calls_[number].waits_at = made;
        return made;
    }
    void lose_count() noexcept {
        const std::scoped_lock held(lock_);
        lost_count_ = true;
        for (auto& [number, c] : calls_) {
            if (c.waits_at) static_cast<void>(c.waits_at->try_put(0));
        }
    }

    own_clock clock_;
    std::mutex lock_;
    std::uint64_t next_ = 0;
    bool lost_count_ = false;
    std::map<std::uint64_t, call> calls_;  // calls that wait, or that left before their turn
};

}  // namespace weir::cuda::detail

#endif
