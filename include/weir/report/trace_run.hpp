// weir report, internal: the events of traced items, which each slot records in a ring; used by trace.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_RUN_HPP
#define WEIR_REPORT_TRACE_RUN_HPP

#include <weir/measure/slot_times.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <memory>   // for std::unique_ptr
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

// The kinds of events. The written trace has events of the same time in this order.
enum class trace_kind : std::uint8_t {
    visit,     // an item was in the slot from `begin` to `end`; stands behind the events of the visit
    state,     // the slot was in a state from `begin` to `end`
    left,      // the item went into the queue `where`, as number `number` of the queue's items
    came,      // the item came out of the queue `where`, as number `number` of the queue's items
    depth,     // the queue `where` held `tag` items after `number` puts and gets
    kept,      // the slot kept the item for a batch, as number `number` of the items that it kept
    gathered,  // the slot's result is made of the kept items from `number` to `tag`
};

// An event; `trace_kind` also says what the members mean in an event of each kind. Without initialisers, so
// that a ring of many events is allocated without writing to them.
struct trace_event {
    std::int64_t begin;  // ns, by the run's clock
    std::int64_t end;
    std::uint64_t number;  // of a visit: the item's number in the stage
    std::uint64_t tag;     // of a visit: the item's origin, see `slot_trace`
    std::uint32_t where;   // of a visit: the item's epoch (pass over the data)
    trace_kind kind;
    std::uint8_t what;  // of a state: its number; of a visit: 1 if it failed
};

// A ring of the last events of one slot: if it is full, a new event overwrites the oldest. One thread at a
// time writes; threads read after the run.
class trace_ring {
  public:
    // Errors: `std::bad_alloc`; then the ring keeps no events.
    void reserve(std::size_t events) {
        events_ = std::make_unique_for_overwrite<trace_event[]>(events);
        size_ = events;
    }

    void add(const trace_event& e) noexcept {
        ++count_;
        if (size_ == 0) return;
        events_[next_] = e;
        next_ = next_ + 1 == size_ ? 0 : next_ + 1;
    }

    // The number of events that were added, and of those that are still in the ring.
    std::uint64_t count() const noexcept { return count_; }
    std::size_t kept() const noexcept { return count_ < size_ ? static_cast<std::size_t>(count_) : size_; }
    // The i-th event that is still in the ring; the oldest is 0.
    const trace_event& operator[](std::size_t i) const noexcept {
        const std::size_t at = (count_ < size_ ? 0 : next_) + i;
        return events_[at < size_ ? at : at - size_];
    }

  private:
    std::unique_ptr<trace_event[]> events_;
    std::size_t size_ = 0;
    std::size_t next_ = 0;
    std::uint64_t count_ = 0;
};

struct trace_settings {
    std::uint64_t every = 1;         // of the items that a source begins, every `every`-th is traced
    std::size_t most = 0;            // the number of events to keep
    std::int64_t after = 0;          // items that begin earlier are not traced; ns since the run began
    std::int64_t until = INT64_MAX;  // items that begin then or later are not traced; ns as above
};

// Records the events of one slot (a worker of a stage); `slot_trail` (measure/trail.hpp) says who calls the
// functions, and when. The tag of a traced item is its origin. The upper 16 bits are the index of the stage
// at which the item began. The lower bits are the item's number in that stage plus one.
class slot_trace final : public slot_trail {
  public:
    slot_trace(const trace_settings& settings, const std::int64_t& run_begins, std::uint64_t stage) noexcept
        : settings_(settings), run_begins_(run_begins), stage_(stage << stage_bit) {}

    static std::size_t stage_of(std::uint64_t tag) noexcept {
        return number_as<std::size_t>(tag >> stage_bit);
    }
    static std::uint64_t number_of(std::uint64_t tag) noexcept {
        return (tag & ((std::uint64_t{1} << stage_bit) - 1)) - 1;
    }

    trace_ring events;

    // \returns the tag for the item that begins at this stage with number `n`; 0: the item is not traced.
    std::uint64_t chosen(std::uint64_t n, std::int64_t now) noexcept override {
        if (!may_choose(n)) return 0;
        const std::int64_t since = time_between(run_begins_, now);
        if (since < settings_.after || since >= settings_.until) return 0;
        next_ = n + settings_.every;
        return stage_ | (n + 1);
    }

    void came(std::uint32_t queue, std::uint64_t number, std::uint64_t tag) noexcept override {
        current_ = tag;
        came_ = {0, 0, number, 0, queue, trace_kind::came, 0};
    }
    void begin(std::uint64_t item, std::uint64_t epoch, std::int64_t now) noexcept override {
        open(current_, item, epoch, now);
        came_.begin = came_.end = visit_.begin;
        events.add(came_);
    }
    void begin_new(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch,
                   std::int64_t now) noexcept override {
        open(tag, item, epoch, now);
        current_ = tag;
    }

    WEIR_INLINE void end_step(std::int64_t now) noexcept override;
    void failed() noexcept override { visit_.what = 1; }
    void left(std::uint32_t queue, std::uint64_t number) noexcept override {
        events.add({visit_.end, visit_.end, number, 0, queue, trace_kind::left, 0});
    }
    void depth(std::uint32_t queue, std::uint64_t puts, std::uint64_t gets,
               std::int64_t now) noexcept override {
        now = larger(now, visit_.end);
        events.add({now, now, puts + gets, puts - smaller(puts, gets), queue, trace_kind::depth, 0});
    }

    WEIR_INLINE std::uint64_t gives(bool with_current, std::uint64_t item, std::uint64_t epoch,
                                    std::int64_t now) noexcept override;
    void keep(std::int64_t now) noexcept override {
        if (!is_open_ || gave_current_ || current_ == 0) return;
        events.add({now, now, next_kept_++, 0, 0, trace_kind::kept, 0});
        if (num_kept_++ == 0) kept_ = current_;
    }

    void did_not_begin() noexcept override {
        is_open_ = false;
        next_ = visit_.number;
    }
    void end() noexcept override {
        if (is_open_) events.add(visit_);
        if (is_open_) last_end_ = visit_.end;
        is_open_ = false;
        current_ = 0;
    }

  private:
    void open(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch, std::int64_t now) noexcept;
    // Adds the states in `journal` (the slot's last states), from number `from` on, as events, cut to the
    // time from `lo` to `hi`. The states `run` and `off` are left out.
    void write_states(std::uint64_t from, std::int64_t lo, std::int64_t hi) noexcept;

    static constexpr unsigned stage_bit = 48;

    const trace_settings& settings_;
    const std::int64_t& run_begins_;
    const std::uint64_t stage_;
    trace_event came_{};                 // the event `came` of the current item
    trace_event visit_{};                // the visit in progress, or the last one
    bool gave_current_ = false;          // a result has been made of the current item, which then isn't kept
    std::uint64_t first_state_ = 0;      // the first state in the journal that may have to be written
    std::int64_t last_end_ = INT64_MIN;  // the end of the last visit
    std::uint64_t kept_ = 0;             // the tag of the first kept item
    std::uint64_t next_kept_ = 0;        // the number of the next kept item
};

// The events of one stage.
struct stage_trace {
    explicit stage_trace(const std::string& of) : name(of) {}
    const std::string name;
    std::vector<std::unique_ptr<slot_trace>> per_slot;
};

// The events of a run. The run adds its stages, queues and slots before the run begins, and later the slots
// of a raised concurrency. `run_trail` (measure/trail.hpp) explains the functions.
class run_trace final : public run_trail {
  public:
    explicit run_trace(const trace_settings& settings) noexcept : settings_(settings) {}

    std::size_t add_stage(const std::string& name) override {
        stages_.push_back(std::make_unique<stage_trace>(name));
        return stages_.size() - 1;
    }
    trail_marks& add_queue(const std::string& name, std::size_t capacity, bool feeds_stage) override {
        const auto place = static_cast<std::uint32_t>(queues_.size());
        queues_.push_back(std::make_unique<trail_marks>(place, capacity, feeds_stage));
        queue_names_.push_back(name);
        return *queues_[place];
    }
    WEIR_INLINE slot_trail& add_slot(std::size_t stage) override;
    // Called when all stages are added. Allocates the slots' rings. Each stage gets the same share of the
    // events, because each stage sees about as many traced items. A slot that is added later gets the share
    // that it would have had from the start, so that n slots together keep less than 1 + log(n) such shares.
    void reserve();
    void begin(std::int64_t now) noexcept override { begin_ = now; }

    const trace_settings& settings() const noexcept { return settings_; }
    std::int64_t begin() const noexcept { return begin_; }
    const std::vector<std::string>& queue_names() const noexcept { return queue_names_; }
    // The number of traced items that were not followed further, as a queue had no room for their tags.
    std::uint64_t lost() const noexcept {
        std::uint64_t all = 0;
        for (const auto& each : queues_) all += each->lost();
        return all;
    }
    // Ends the last visit of each slot. Called when the last slot has ended, before `read`.
    void end() noexcept;
    // Calls `read(stages)` under the lock; returns its result.
    template <class Read>
    auto read(Read read) const {
        const std::lock_guard guard(lock_);
        return read(stages_);
    }

  private:
    // The number of events for each of the slots of a stage.
    std::size_t share_of(std::size_t num_slots) const noexcept {
        return larger<std::size_t>(1, settings_.most / stages_.size() / larger<std::size_t>(1, num_slots));
    }

    const trace_settings settings_;
    bool is_reserved_ = false;
    std::int64_t begin_ = 0;
    mutable standard_platform::mutex lock_;  // guards the slots of the stages once the run has begun
    std::vector<std::unique_ptr<stage_trace>> stages_;
    std::vector<std::unique_ptr<trail_marks>> queues_;
    std::vector<std::string> queue_names_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/trace_run.ipp>
#endif

#endif
