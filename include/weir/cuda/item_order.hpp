// weir cuda, internal: lets the calls of a stage's function take something in the order of their items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_ITEM_ORDER_HPP
#define WEIR_CUDA_ITEM_ORDER_HPP

#include <weir/channel/channel.hpp>
#include <weir/cuda/own_clock.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstdint>   // for std::uint64_t
#include <map>       // for std::map
#include <memory>    // for std::make_shared, std::shared_ptr
#include <mutex>     // for std::mutex, std::scoped_lock
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::cuda::detail {

// In a stage that keeps the order of its items, what a later one holds until it leaves must not be what an
// earlier one waits for. So they take it by their numbers, which begin with 0 and have no gaps.
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

    // This one needs nothing any more; once for each number. Where memory for the note of it can't be had,
    // the order is kept no longer: all go on.
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

    // Of one call.
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
        // False: it was stopped.
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
    // Null: it is the first.
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
    std::map<std::uint64_t, call> calls_;  // those that wait, or are done before their turn
};

}  // namespace weir::cuda::detail

#endif
