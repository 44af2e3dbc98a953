// weir report, internal: the events of traced items, which each slot records in a ring of its own
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_RUN_HPP
#define WEIR_REPORT_TRACE_RUN_HPP

#include <weir/measure/slot_state.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <memory>   // for std::make_unique, std::make_unique_for_overwrite
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// In the order in which a trace has events of the same time.
enum class trace_kind : std::uint8_t {
    visit,  // an item was in the slot from `begin` to `end`; the events before this one belong to the visit
    state,  // the slot was in a state from `begin` to `end`
    left,   // the item went into the queue `where`, as its item `number`
    came,   // the item came out of the queue `where`, as its item `number`
    depth,  // the queue `where` held `tag` items after its operation `number`
    kept,   // the slot kept the item for a batch, as the kept item `number`
    gathered,  // the result holds the kept items from `number` to `tag`
};

// Without initialisers, so that a ring of many events is allocated without writing to them.
struct trace_event {
    std::int64_t begin;  // ns, by the run's clock
    std::int64_t end;
    std::uint64_t number;
    std::uint64_t tag;  // of a visit: the item's origin, see `slot_trace`
    std::uint32_t where;
    trace_kind kind;
    std::uint8_t what;  // of a state: its number; of a visit: 1 if it failed
};

// The last events of one slot: when it is full, the oldest event is overwritten. One thread writes.
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

    // All events that were added, and those that are still there.
    std::uint64_t count() const noexcept { return count_; }
    std::size_t kept() const noexcept { return count_ < size_ ? static_cast<std::size_t>(count_) : size_; }
    // The i-th event that is still there; the oldest is 0.
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
    std::uint64_t every = 1;         // every so many items of a source, one is traced
    std::size_t most = 0;            // events to keep
    std::int64_t after = 0;          // traced items begin from this instant on, in ns since the run began
    std::int64_t until = INT64_MAX;  // and before this one
};

// The trail of one slot. The tag of a traced item is its origin: the stage at which it began in the upper
// bits, below them its number there plus one.
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

    void end_step(std::int64_t now) noexcept override {
        write_states(larger(first_state_, journal.first()), visit_.end, larger(now, visit_.end));
        if (journal.count() != 0)
            first_state_ = larger(first_state_, journal.count() - 1);  // the slot runs again
        visit_.end = larger(now, visit_.end);
    }
    void failed() noexcept override { visit_.what = 1; }
    void left(std::uint32_t queue, std::uint64_t number) noexcept override {
        events.add({visit_.end, visit_.end, number, 0, queue, trace_kind::left, 0});
    }
    void depth(std::uint32_t queue, std::uint64_t puts, std::uint64_t gets,
               std::int64_t now) noexcept override {
        now = larger(now, visit_.end);
        events.add({now, now, puts + gets, puts - smaller(puts, gets), queue, trace_kind::depth, 0});
    }

    std::uint64_t gives(bool with_current, std::uint64_t item, std::uint64_t epoch,
                        std::int64_t now) noexcept override {
        const std::uint64_t tag = num_kept_ != 0 ? kept_ : with_current ? current_ : 0;
        if (tag == 0) return 0;
        if (!is_open_) open(tag, item, epoch, now);
        end_step(now);
        if (num_kept_ != 0) {
            events.add({now, now, next_kept_ - num_kept_, next_kept_ - 1, 0, trace_kind::gathered, 0});
        }
        num_kept_ = 0;
        gave_current_ = gave_current_ || with_current;
        return tag;
    }
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
    void open(std::uint64_t tag, std::uint64_t item, std::uint64_t epoch, std::int64_t now) noexcept {
        if (is_open_) {
            const std::uint64_t came = current_;
            end();
            current_ = came;
        }
        now = larger(now, last_end_);
        visit_ = {now, now, item, tag, static_cast<std::uint32_t>(epoch), trace_kind::visit, 0};
        is_open_ = true;
        gave_current_ = false;
        // Writes the waits that have just ended, behind the previous event.
        std::uint64_t first = journal.count();
        if (first > journal.first()) --first;  // the slot runs again
        while (first > journal.first() && journal[first - 1].state != slot_state::run) --first;
        write_states(first, last_end_, now);
        first_state_ = journal.count();
    }
    // Writes the states of the journal from `from` on, cut to the time from `lo` to `hi`.
    void write_states(std::uint64_t from, std::int64_t lo, std::int64_t hi) noexcept {
        for (std::uint64_t i = from; i < journal.count(); ++i) {
            const slot_state state = journal[i].state;
            if (state == slot_state::run || state == slot_state::off) continue;
            const std::int64_t begin = larger(journal[i].since, lo);
            const std::int64_t end = i + 1 < journal.count() ? smaller(journal[i + 1].since, hi) : hi;
            if (begin >= end) continue;
            events.add({begin, end, 0, 0, 0, trace_kind::state, static_cast<std::uint8_t>(state)});
        }
    }

    static constexpr unsigned stage_bit = 48;

    const trace_settings& settings_;
    const std::int64_t& run_begins_;
    const std::uint64_t stage_;
    trace_event came_{};
    trace_event visit_{};
    bool gave_current_ = false;
    std::uint64_t first_state_ = 0;
    std::int64_t last_end_ = INT64_MIN;
    std::uint64_t kept_ = 0;  // the tag of the first kept item
    std::uint64_t next_kept_ = 0;
};

struct stage_trace {
    explicit stage_trace(const std::string& of) : name(of) {}
    const std::string name;
    std::size_t share = 0;  // the number of events for each slot
    owning_list<slot_trace> per_slot;
};

class run_trace final : public run_trail {
  public:
    explicit run_trace(const trace_settings& settings) noexcept : settings_(settings) {}

    std::size_t add_stage(const std::string& name) override {
        stages_.push_back(std::make_unique<stage_trace>(name));
        return stages_.size() - 1;
    }
    trail_marks& add_queue(const std::string& name, std::size_t capacity, bool is_read) override {
        const auto place = static_cast<std::uint32_t>(queues_.size());
        queues_.push_back(std::make_unique<trail_marks>(place, capacity, is_read));
        queue_names_.push_back(name);
        return *queues_[place];
    }
    slot_trail& add_slot(std::size_t stage) override {
        auto added = std::make_unique<slot_trace>(settings_, begin_, stage);
        slot_trace& slot = *added;
        const std::lock_guard guard(lock_);
        if (stages_[stage]->share != 0) slot.events.reserve(stages_[stage]->share);
        stages_[stage]->per_slot.push_back(std::move(added));
        return slot;
    }
    // Called when all stages are added. Each stage gets the same share of the events, because each sees
    // about as many items.
    void reserve() {
        for (stage_trace* const stage : stages_) {
            const std::size_t num_slots =
                larger<std::size_t>(1, stage->per_slot.size());  // no slots: nothing is measured
            const std::size_t share = settings_.most / stages_.size() / num_slots;
            stage->share = larger<std::size_t>(1, share);
            for (slot_trace* const slot : stage->per_slot) slot->events.reserve(stage->share);
        }
    }
    void begin(std::int64_t now) noexcept override { begin_ = now; }

    const trace_settings& settings() const noexcept { return settings_; }
    std::int64_t begin() const noexcept { return begin_; }
    const std::vector<std::string>& queue_names() const noexcept { return queue_names_; }
    // The number of items that were lost from sight, because a queue had no room for their tags.
    std::uint64_t lost() const noexcept {
        std::uint64_t all = 0;
        for (const trail_marks* const each : queues_) all += each->lost();
        return all;
    }
    // Called when the last slot has ended, before `read`.
    void end() noexcept {
        const std::lock_guard guard(lock_);
        for (stage_trace* const stage : stages_) {
            for (slot_trace* const slot : stage->per_slot) slot->end();
        }
    }
    template <class Read>
    auto read(Read read) const {
        const std::lock_guard guard(lock_);
        return read(stages_);
    }

  private:
    const trace_settings settings_;
    std::int64_t begin_ = 0;
    mutable standard_platform::mutex lock_;  // guards the slots of the stages once the run has begun
    owning_list<stage_trace> stages_;
    owning_list<trail_marks> queues_;
    std::vector<std::string> queue_names_;
};

}  // namespace weir::detail

#endif
