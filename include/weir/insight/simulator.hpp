// weir insight, internal: simulates the slots and queues of a pipeline without coroutines, event by event
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SIMULATOR_HPP
#define WEIR_INSIGHT_SIMULATOR_HPP

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/settings.hpp>
#include <weir/measure/slot_times.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint64_t
#include <deque>    // for std::deque
#include <span>     // for std::span
#include <vector>   // for std::vector

namespace weir::detail {

// A first-in, first-out queue that keeps its memory.
template <class T>
class fifo {
  public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }
    void push(T value) {
        if (size_ == all_.size()) grow();
        all_[(first_ + size_++) & (all_.size() - 1)] = value;
    }
    T pop() noexcept {
        const T value = all_[first_];
        first_ = (first_ + 1) & (all_.size() - 1);
        --size_;
        return value;
    }

  private:
    void grow() {
        std::vector<T> larger(all_.empty() ? 8 : 2 * all_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = all_[(first_ + i) & (all_.size() - 1)];
        all_.swap(larger);
        first_ = 0;
    }

    std::vector<T> all_;  // the size is a power of two, or 0
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

// Simulates one run. Events of one instant are handled in any order, as no statistic depends on this order: only
// the threads of a pool are assigned at the end of an instant.
class simulator {
  public:
    // Lifetime: settings and samples outlive the simulator. `settings` has been checked.
    simulator(const pipeline_settings& settings, std::span<const std::span<const recorded_task>> samples,
              std::span<const recorded_stage> recorded, const predict_options& options);

    // Called once.
    prediction run();

  private:
    using index = std::uint32_t;
    using item = std::uint32_t;  // 0: a single item; else 1 + the index of a batch
    using instant = std::int64_t;

    // What a slot does when it continues.
    enum class phase : std::uint8_t { take, begin, end_run, finish, give, gave, input_ended };

    struct slot {
        index stage;
        phase next = phase::take;
        bool is_ending = false;  // the input has ended: the slot gives what it holds, and ends
        slot_state state = slot_state::wait_get;
        instant since = 0;
        instant run = 0;
        instant await = 0;
        std::uint64_t number = 0;  // of the item in the input queue, from 0
        item holds = 0;
        std::uint32_t left = 0;  // results that are to be given
    };
    struct queue {
        std::size_t capacity;
        index put_in_order_by;  // a stage whose slots wait for places, or `none`
        bool is_closed = false;
        fifo<item> items;
        fifo<index> putters, getters;  // slots that wait
        std::uint64_t num_put = 0, num_get = 0;
        instant last = 0, put_wait = 0, put_blocked = 0, get_blocked = 0, empty = 0;
    };
    struct early_result {
        bool is_there = false;
        bool has_item = false;
        item what = 0;
    };
    struct stage {
        const stage_settings* settings;
        std::span<const recorded_task> sample;
        bool in_sequence;
        std::vector<std::uint32_t> order;  // in which times are taken, if not in sequence
        bool keeps_order;
        std::uint64_t seed;
        std::uint64_t num_made = 0;  // of a source: the items that it has begun
        std::uint64_t finished = 0;
        std::size_t working = 0;  // slots that have not ended
        std::array<instant, slot_states> spent{};
        item batch = 0;                   // of an aggregate: the batch that is filled, or 0
        std::uint64_t next_to_leave = 0;  // of a stage in order: the number of the item
        std::deque<early_result> early;   // element i is of item `next_to_leave + i`
        std::vector<index> in_line;       // slots that wait for their turn or a place
    };
    struct event {
        instant at;
        std::uint64_t order;
        index who;
        friend bool operator<(const event& a, const event& b) noexcept {
            return a.at != b.at ? a.at > b.at : a.order > b.order;  // the earliest is the greatest
        }
    };
    // Of the requests for a thread, the earliest goes first; of one instant, that of the last stage.
    struct request {
        instant at;
        index stage;
        std::uint64_t number;
        index who;
        friend bool operator<(const request& a, const request& b) noexcept {
            if (a.at != b.at) return a.at > b.at;
            if (a.stage != b.stage) return a.stage < b.stage;
            return a.number > b.number;
        }
    };
    struct pool {
        bool is_limited;
        std::size_t free;
        std::vector<request> requests;  // a heap
    };

    static constexpr index none = static_cast<index>(-1);

    void proceed(index who);
    bool take(slot& me, index who);
    void begin(slot& me, index who);
    void begin_work(slot& me, index who);
    void end_run(slot& me, index who);
    void finish(slot& me, index who);
    bool give(slot& me, index who);
    void gave(slot& me);
    void end(slot& me);
    void assign_threads();

    bool put(queue& to, item what, index who);
    void let_in(queue& to, item what);
    void leave_in_order(stage& of, queue& to);
    bool is_turn_or_early(slot& me, stage& of, queue& to);
    void look_in_line(stage& of, queue& to);

    recorded_task draw(const stage& of, std::uint64_t k) const noexcept;
    void enter(slot& me, slot_state next) noexcept;
    void settle(queue& q) noexcept;
    void wake_at(instant at, index who);
    void wake(index who, phase next);
    item make_batch();
    void drop(item what);
    prediction result();

    queue& before(const slot& me) noexcept { return queues_[me.stage - 1]; }
    queue& behind(const slot& me) noexcept { return queues_[me.stage]; }

    const pipeline_settings& settings_;
    const predict_options& options_;
    std::vector<stage> stages_;
    std::vector<queue> queues_;
    std::vector<slot> slots_;
    std::vector<pool> pools_;
    std::vector<std::vector<item>> batches_;
    std::vector<item> free_batches_;
    std::vector<event> events_;  // a heap
    fifo<index> ready_;
    instant now_ = 0;
    std::uint64_t num_events_ = 0;
    std::uint64_t consumed_ = 0;
    instant measured_from_ = 0;  // when the last skipped item was consumed
    instant measured_to_ = 0;
    bool is_over_ = false;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/simulator.ipp>
#endif

#endif
