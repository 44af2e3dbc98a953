// weir insight, internal: simulates the slots and queues of a pipeline without coroutines, event by event
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SIMULATOR_HPP
#define WEIR_INSIGHT_SIMULATOR_HPP

#include <weir/insight/recording.hpp>
#include <weir/measure/slot_times.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint32_t, std::uint64_t, std::uint8_t
#include <span>     // for std::span
#include <vector>   // for std::vector

namespace weir::detail {

// A first-in, first-out queue that keeps its memory: a ring.
template <class T>
class fifo {
  public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }
    void push(T value) {
        if (size_ == all_.size()) grow();
        (*this)[size_++] = value;
    }
    T& operator[](std::size_t i) noexcept { return all_[(first_ + i) & (all_.size() - 1)]; }
    T pop() noexcept {
        const T value = all_[first_];
        first_ = (first_ + 1) & (all_.size() - 1);
        --size_;
        return value;
    }

  private:
    void grow() {
        std::vector<T> larger(all_.empty() ? 8 : 2 * all_.size());
        for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
        all_.swap(larger);
        first_ = 0;
    }

    std::vector<T> all_;  // the size is a power of two, or 0
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

// The numbers below n in random order.
// Source: R. Durstenfeld, "Algorithm 235: random permutation", CACM 7 (1964).
std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed);

// The state of a simulation; `simulator` has the rules by which the state changes. Times are in ns; instants
// count from the start of the simulated run.
class simulated_pipeline {
  protected:
    using index = std::uint32_t;
    using item = std::uint32_t;  // 0 for a single item; 1 + its index in `batches_` for a batch
    using instant = std::int64_t;

    static constexpr index none = static_cast<index>(-1);

    // The next step of a slot (a worker of a stage): take an item; begin the invocation; end its `run`;
    // finish it after its `await`; put a result; count a result that was put; end, as the input has ended.
    enum class phase : std::uint8_t { take, begin, end_run, finish, give, count_put, input_ended };

    struct slot {
        index stage = 0;
        phase next = phase::take;
        bool is_ending = false;  // the input has ended: the slot puts the item that it holds, and ends
        slot_state state = slot_state::wait_get;
        instant since = 0;  // when the state began
        instant run = 0;    // how long the invocation has a thread; `await`: how long it then awaits
        instant await = 0;
        std::uint64_t number = 0;  // from 0: the place of its item among those that the stage took or made
        item holds = 0;            // the item, or its next result
        std::uint32_t left = 0;    // results of this item that are not in the output queue yet
    };
    struct queue {
        std::size_t capacity = 1;
        index put_in_order_by = none;  // the stage before the queue, if this stage keeps an order
        bool is_closed = false;
        fifo<item> items;
        fifo<index> putters, getters;  // slots that wait for room, and slots that wait for an item
        std::uint64_t num_put = 0, num_get = 0;
        // `last`: the instant of the last settle(). The others are as in `predicted_queue`.
        instant last = 0, put_wait = 0, put_blocked = 0, get_blocked = 0, empty = 0;
    };
    // Values of `stage::early` for an item that is not finished, and for one that has no result.
    static constexpr item unfinished = static_cast<item>(-1);
    static constexpr item no_result = static_cast<item>(-2);
    struct stage {
        const stage_settings* settings = nullptr;
        const recorded_stage* recorded = nullptr;
        // Unless `recorded->in_sequence`: a random permutation of the indices of `recorded->tasks`.
        std::vector<std::uint32_t> order;
        bool keeps_order = false;
        std::uint64_t seed = 0;
        std::uint64_t num_made = 0;                // of a source: the items that the source has begun
        std::uint64_t finished = 0;                // invocations
        std::size_t working = 0;                   // slots that have not ended
        std::array<instant, slot_states> spent{};  // time in each state, summed over slots
        item batch = 0;  // the batch that an aggregate fills, or a disaggregate takes apart; 0 if none
        std::size_t full_size = 0;      // of an aggregate: the number of items in this batch when it is full
        std::uint64_t num_batches = 0;  // of an aggregate: the batches that the aggregate has begun
        std::uint64_t next_to_leave = 0;  // if `keeps_order`: the number of the item whose turn it is
        fifo<item> early;  // results before their turn: element i is that of item `next_to_leave + i`
        std::vector<index> in_line;  // slots that wait for their turn or for room, the earliest item first
    };
    // The slot `who` continues at the instant `at`, or has waited for a thread since then. Of events at one
    // instant, those of later stages come first; within a stage, those with smaller numbers.
    struct event {
        instant at;
        std::uint64_t number;  // of the item that waits for a thread; else, of the event
        index stage;           // that waits for a thread; else 0
        index who;
        friend bool operator<(const event& a, const event& b) noexcept {  // reversed, for std::push_heap
            if (a.at != b.at) return a.at > b.at;
            return a.stage != b.stage ? a.stage < b.stage : a.number > b.number;
        }
    };
    // The threads of an executor. Without a limit, each slot has a thread.
    struct pool {
        bool is_limited = false;
        std::size_t free = 0;         // threads that no slot has
        std::vector<event> requests;  // a heap: of slots that wait for a thread
    };

    simulated_pipeline(const pipeline_settings& settings, std::span<const recorded_stage> recorded,
                       const predict_options& options, bool is_resample);

    // \returns the index in the stage's sample of element `i` of its resample.
    static std::uint64_t resampled(const stage& of, std::uint64_t i) noexcept;
    // Whether some invocation of the stage's resample has a result; true without a sample.
    static bool resample_gives_items(const stage& of) noexcept;
    // The times and results of a stage's invocation for item number `k`: from the stage's sample, with
    // `stage_settings::time_factor` and `recorded_stage::overhead`.
    recorded_task draw(const stage& of, std::uint64_t k) const noexcept;
    // Adds the time in the slot's current state to the stage's times, and changes the state to `next`.
    void enter(slot& me, slot_state next) noexcept;
    // Adds the time since the last change of a queue to the queue's times. Called before each change of the
    // queue.
    void settle(queue& q) noexcept;
    // Puts an item, or adds the slot `who` to the `putters` if the queue is full or others wait for room.
    // Returns whether the item was put.
    bool put(queue& to, item what, index who);
    // Passes an item to the first of the queue's `getters`, or else adds it to the queue. The caller has
    // called settle().
    void let_in(queue& to, item what);
    static void add(std::vector<event>& heap, const event& one);
    // Removes the first of the events, and returns its slot.
    static index remove_first(std::vector<event>& heap);
    // Makes the slot `who` continue when `time` has passed, at the latest at `end_`.
    void wake_after(instant time, index who);
    // Makes the slot `who` continue with `next` at the current instant.
    void wake(index who, phase next);

    // Makes `stage::batch` an empty batch, and sets `full_size`: drawn from `recorded_stage::batch_sizes`,
    // scaled to the mean `stage_settings::batch_size`; without recorded sizes, `batch_size`.
    void begin_batch(stage& of);
    item make_batch();
    // Frees a batch and the batches in it; nothing for a single item.
    void drop(item what);

    // Returns the statistics, with the times up to the current instant.
    prediction result();

    queue& before(const slot& me) noexcept { return queues_[me.stage - 1]; }
    queue& behind(const slot& me) noexcept { return queues_[me.stage]; }

    const pipeline_settings& settings_;
    const predict_options& options_;
    const bool is_resample_;
    std::vector<stage> stages_;
    std::vector<queue> queues_;
    std::vector<pool> pools_;
    std::vector<slot> slots_;
    std::vector<std::vector<item>> batches_;
    std::vector<item> free_batches_;  // elements of `batches_` to be used again
    std::vector<event> events_;       // a heap
    fifo<index> ready_;               // the slots that continue at the instant `now_`
    // The simulation ends here at the latest. Until then, no sum of times over all slots overflows.
    instant end_ = 0;
    instant now_ = 0;
    std::uint64_t num_events_ = 0;
    std::uint64_t consumed_ = 0;  // items that the consumer got
    instant measured_from_ = 0;   // when the last skipped item was consumed
    instant measured_to_ = 0;     // when the last item was consumed
    bool is_over_ = false;
};

// Simulates one run. The slots (workers of stages) that continue at one instant are handled in any order: no
// statistic depends on this order, because free threads are assigned only when all slots have been handled.
class simulator : private simulated_pipeline {
  public:
    // Lifetime: all arguments outlive the simulator. `settings` has passed check_settings().
    // `is_resample`: whether the sample of each stage is replaced by one as large, drawn from the sample at
    // random with replacement; drawn again while it has no invocation with a result. The sample has one.
    simulator(const pipeline_settings& settings, std::span<const recorded_stage> recorded,
              const predict_options& options, bool is_resample)
        : simulated_pipeline(settings, recorded, options, is_resample) {}

    // Simulates the run to its end. Called once.
    prediction run();

  private:
    // A source without `pipeline_settings::num_items` ends after `most_made` items, so that a simulation ends
    // even if a stage drops all items.
    static constexpr std::uint64_t most_made = 10'000'000;

    // Runs the steps of the slot with the index `who`. Returns when the slot is in an invocation, waits, or
    // has ended, or when the simulation is over.
    void proceed(index who);

    // The steps of a slot: one function for each `phase`, and begin_work(), the part of begin() that starts
    // an invocation. They set `slot::next`. take() and give() return false if the slot waits.
    bool take(slot& me, index who);
    void begin(slot& me, index who);
    void begin_work(slot& me, index who);
    void end_run(slot& me, index who);
    void finish(slot& me, index who);
    bool give(slot& me, index who);
    void count_put(slot& me);
    void end(slot& me);

    void assign_threads();

    // In a stage that keeps the order of its items: whether the slot need not wait for the turn of its item.
    // True if it is the item's turn. Also true if the item has at most one result, for which the queue has
    // room beside a result of each earlier item that hasn't left: the result moves to `stage::early`.
    bool is_turn_or_early(slot& me, stage& of, queue& to);
    // Called when the item whose turn it was has left. The early results directly behind this item leave,
    // too, up to the first item that is not finished; then look_in_line() runs.
    void leave_in_order(stage& of, queue& to);
    // Continues the slots of `stage::in_line` for which is_turn_or_early() has become true.
    void look_in_line(stage& of, queue& to);
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/simulated_pipeline.ipp>
#include <weir/insight/simulator.ipp>
#endif

#endif
