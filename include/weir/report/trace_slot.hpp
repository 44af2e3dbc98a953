// weir report, internal: writes down what one slot does with items that are followed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_SLOT_HPP
#define WEIR_REPORT_TRACE_SLOT_HPP

#include <weir/measure/state_journal.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/trace_ring.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

struct trace_settings {
    std::uint64_t every = 1;         // of a source's items one is followed
    std::size_t most = 0;            // events that are kept
    std::int64_t after = 0;          // ns since the run began, from which
    std::int64_t until = INT64_MAX;  // to which items that are followed begin
};

// A tag says where an item began: at which stage, and its number there and one.
class slot_trace final : public slot_trail {
  public:
    slot_trace(const trace_settings& how, const std::int64_t& run_begins, std::uint64_t stage) noexcept
        : how_(how), run_begins_(run_begins), stage_(stage << stage_bit) {}

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
        if (since < how_.after || since >= how_.until) return 0;
        next_ = n + how_.every;
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

    void goes_on(std::int64_t now) noexcept override {
        write_states(larger(first_state_, journal.first()), visit_.end, larger(now, visit_.end));
        if (journal.count() != 0) first_state_ = larger(first_state_, journal.count() - 1);  // it runs again
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
        goes_on(now);
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
        // The waits that have just ended, after all that was written before.
        std::uint64_t first = journal.count();
        if (first > journal.first()) --first;  // it runs again
        while (first > journal.first() && journal[first - 1].state != slot_state::run) --first;
        write_states(first, last_end_, now);
        first_state_ = journal.count();
    }
    // Of the journal from there on, as much as lies between two instants.
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

    const trace_settings& how_;
    const std::int64_t& run_begins_;
    const std::uint64_t stage_;
    trace_event came_{};
    trace_event visit_{};
    bool gave_current_ = false;
    std::uint64_t first_state_ = 0;
    std::int64_t last_end_ = INT64_MIN;
    std::uint64_t kept_ = 0;  // the tag of the first that was
    std::uint64_t next_kept_ = 0;
};

}  // namespace weir::detail

#endif
