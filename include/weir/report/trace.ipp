// weir report, internal: bodies of the functions of report/trace.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_IPP
#define WEIR_REPORT_TRACE_IPP

#include <weir/report/trace.hpp>

#include <weir/measure/slot_times.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/report/escape.hpp>

#include <algorithm>  // for std::ranges::sort
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::make_shared, std::unique_ptr
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::logic_error
#include <tuple>      // for std::tuple
#include <vector>     // for std::vector

namespace weir::detail {

// Writes the events of a run as text in the Trace Event Format. Each slot (a worker of a stage) is a lane, a
// thread of the format; spans on a lane nest. A visit is the time that an item spends in a slot. Each step of
// an item from one visit to the next is a pair of flow events: `s` where the step starts, `f` where it
// finishes.
// Source: "Trace Event Format", Google 2016.
class trace_writer {
    struct line {
        trace_event event;
        std::uint32_t lane;
        std::uint64_t id;  // of a flow event: the number of its step; else the index of the event in its ring

        // The key by which lines are sorted.
        auto place() const noexcept {
            const bool of_queue = event.kind == trace_kind::depth;
            return std::tuple(event.begin, event.kind, of_queue ? event.where : lane,
                              of_queue ? event.number : id);
        }
    };
    // One end of a step: the departure of an item from a visit, or the arrival at the next visit. `where` is
    // a queue, or a slot that kept the item for a batch; `number`: the item's number there.
    struct end_of_step {
        std::uint64_t where;
        std::uint64_t number;
        std::int64_t at;
        std::int64_t begin;  // of the visit
        std::uint64_t item;  // of the visit: the item's number in the stage of the slot
        std::uint32_t lane;  // of the slot
        // The departure and the arrival of one step have equal keys.
        auto key() const noexcept { return std::tuple(where, number); }
    };

  public:
    trace_writer(const run_trace& run, const std::vector<std::unique_ptr<stage_trace>>& stages)
        : run_(run), stages_(stages) {
        for (const auto& stage : stages) {
            std::size_t slot = 0;
            for (const auto& each : stage->per_slot) {
                lane_stages_.push_back(stage.get());
                begin_lane(*stage, slot++);
                read(*each);
            }
        }
        connect();
        // A span comes before the spans and the flow events inside of it.
        std::ranges::sort(lines_, {}, &line::place);
    }

    std::string text() const {
        std::string all = R"({"displayTimeUnit":"ns","otherData":{"events_dropped":")" +
                          std::to_string(dropped_) + R"(","flows_lost":")" + std::to_string(run_.lost()) +
                          R"(","every":")" + std::to_string(run_.settings().every) +
                          "\"},\n\"traceEvents\":[\n" +
                          R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"weir"}})";
        if (dropped_ + run_.lost() != 0) {
            all += ",\n" +
                   std::string(R"({"ph":"M","pid":1,"tid":0,"name":"process_labels","args":{"labels":")") +
                   std::to_string(dropped_) + " events dropped, the oldest; " + std::to_string(run_.lost()) +
                   " flows lost\"}}";
        }
        all += lane_heads_;
        for (const line& each : lines_) write(all, each);
        return all += "\n]}\n";
    }

  private:
    // The lane of the last slot in `lane_stages_`; lane 0 is the process.
    std::uint32_t lane() const noexcept { return static_cast<std::uint32_t>(lane_stages_.size()); }

    void begin_lane(const stage_trace& stage, std::size_t slot) {
        const std::string head =
            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(lane()) + ",\"name\":\"thread_";
        lane_heads_ += head + "name\",\"args\":{\"name\":";
        append_json(lane_heads_,
                    stage.per_slot.size() == 1 ? stage.name : stage.name + " #" + std::to_string(slot));
        lane_heads_ += "}}" + head + "sort_index\",\"args\":{\"sort_index\":" + std::to_string(lane()) + "}}";
    }

    // Reads the ring of a slot, in which the events of a visit stand before the event of the visit itself.
    void read(const slot_trace& slot) {
        dropped_ += slot.events.count() - slot.events.kept();
        std::size_t first = 0;
        for (std::size_t i = 0; i < slot.events.kept(); ++i) {
            const trace_event& visit = slot.events[i];
            if (visit.kind != trace_kind::visit) continue;
            lines_.push_back({visit, lane(), i});
            for (; first < i; ++first) read_part(slot.events[first], visit, first);
            first = i + 1;
        }
    }
    // `place`: the index of the event `e` in the ring.
    void read_part(const trace_event& e, const trace_event& visit, std::size_t place) {
        const std::uint64_t kept = (std::uint64_t{1} << 32U) + lane();  // greater than all numbers of queues
        const auto step = [&](std::uint64_t where, std::uint64_t number) {
            return end_of_step{where, number, e.begin, visit.begin, visit.number, lane()};
        };
        if (e.kind == trace_kind::state || e.kind == trace_kind::depth) lines_.push_back({e, lane(), place});
        if (e.kind == trace_kind::left) departures_.push_back(step(e.where, e.number));
        if (e.kind == trace_kind::came) arrivals_.push_back(step(e.where, e.number));
        if (e.kind == trace_kind::kept) departures_.push_back(step(kept, e.number));
        for (std::uint64_t n = e.number; e.kind == trace_kind::gathered && n <= e.tag; ++n)
            arrivals_.push_back(step(kept, n));
    }

    // Adds the two lines of each step whose two ends are both still in a ring.
    void connect() {
        std::ranges::sort(departures_, {}, &end_of_step::key);
        std::ranges::sort(arrivals_, {}, &end_of_step::key);
        std::uint64_t steps = 0;
        auto from = departures_.begin();
        for (const end_of_step& to : arrivals_) {
            while (from != departures_.end() && from->key() < to.key()) ++from;
            if (from == departures_.end()) break;
            if (from->key() != to.key()) continue;
            // The clocks of two processors may differ by some nanoseconds: no step ends before it starts.
            const std::int64_t at = larger(from->begin, smaller(from->at, to.at));
            if (at > to.at) continue;
            ++steps;
            lines_.push_back({{at, at, from->item, 0, 0, trace_kind::left, 0}, from->lane, steps});
            lines_.push_back({{to.at, to.at, to.item, 0, 0, trace_kind::came, 0}, to.lane, steps});
        }
    }

    // Appends a time in microseconds, with three decimals.
    static void append_time(std::string& out, const char* name, std::int64_t ns) {
        const std::string digits = std::to_string(1000 + ns % 1000);
        ((out += name) += std::to_string(ns / 1000)) += '.';
        out.append(digits, 1, 3);
    }
    void append_head(std::string& out, const char* phase, std::uint32_t lane, std::int64_t begin) const {
        ((out += ",\n{\"ph\":\"") += phase) += "\",\"pid\":1,\"tid\":";
        out += std::to_string(lane);
        append_time(out, ",\"ts\":", time_between(run_.begin(), begin));
    }
    void append_span(std::string& out, const line& l, const std::string& name) const {
        append_head(out, "X", l.lane, l.event.begin);
        append_time(out, ",\"dur\":", time_between(l.event.begin, l.event.end));
        out += ",\"name\":";
        append_json(out, name);
    }

    void write(std::string& out, const line& l) const {
        const trace_event& e = l.event;
        if (e.kind == trace_kind::visit) {
            append_span(out, l, lane_stages_[l.lane - 1]->name);
            out += ",\"cat\":\"item\",\"args\":{\"item\":" + std::to_string(e.number) +
                   ",\"epoch\":" + std::to_string(e.where) + ",\"from\":";
            append_json(out, stages_[slot_trace::stage_of(e.tag)]->name + " " +
                                 std::to_string(slot_trace::number_of(e.tag)));
            out += e.what != 0 ? ",\"failed\":true}}" : "}}";
        } else if (e.kind == trace_kind::state) {
            append_span(out, l, states_by_number[e.what].name);
            out += ",\"cat\":\"state\"}";
        } else if (e.kind == trace_kind::depth) {
            append_head(out, "C", 0, e.begin);
            out += ",\"name\":";
            append_json(out, run_.queue_names()[e.where] + "_queue");
            out += ",\"args\":{\"items\":" + std::to_string(e.tag) + "}}";
        } else {
            append_head(out, e.kind == trace_kind::left ? "s" : "f", l.lane, e.begin);
            out +=
                (e.kind == trace_kind::left ? ",\"id\":" : ",\"bp\":\"e\",\"id\":") + std::to_string(l.id) +
                ",\"cat\":\"item\",\"name\":\"item\",\"args\":{\"item\":" + std::to_string(e.number) + "}}";
        }
    }

    const run_trace& run_;
    const std::vector<std::unique_ptr<stage_trace>>& stages_;
    std::uint64_t dropped_ = 0;
    std::string lane_heads_;
    std::vector<const stage_trace*> lane_stages_;  // the stage of each lane, from lane 1 on
    std::vector<line> lines_;
    std::vector<end_of_step> departures_;
    std::vector<end_of_step> arrivals_;
};

WEIR_INLINE std::string trace_text(const run_trace& run) {
    return run.read([&](const auto& stages) { return trace_writer(run, stages).text(); });
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string trace_report::text() const {
    std::shared_ptr<const detail::run_trace> ended;
    {
        const std::lock_guard guard(lock_);
        ended = ended_;
    }
    return ended == nullptr ? std::string() : detail::trace_text(*ended);
}

WEIR_INLINE void trace_report::ends(const pipeline_stats&, const pipeline_stats&) {
    running()->end();
    {
        const std::lock_guard guard(lock_);
        ended_ = std::move(running_);
    }
    if (!path_.empty()) detail::output_file::replace(path_, text());
}

WEIR_INLINE std::shared_ptr<detail::run_trail> trace_report::follows_items() {
    auto next = std::make_shared<detail::run_trace>(settings_);
    const std::lock_guard guard(lock_);
    // The report shares the trace with the run. A run that could not be started has released the trace.
    if (running_ != nullptr && running_.use_count() > 1) {
        throw std::logic_error("weir: a trace_report is of one run at a time, and the one before goes on");
    }
    return running_ = std::move(next);
}

WEIR_INLINE detail::trace_settings trace_report::settings_of(const trace_options& o) {
    detail::refuse_if(o.every == 0, "weir: a trace follows every n-th item, and n has to be 1 or more");
    detail::refuse_if(o.max_events == 0, "weir: a trace of 0 events has nothing to show; give it 1 or more");
    detail::refuse_negative(o.every, "weir: the every of a trace was negative; give it 1 or more");
    detail::refuse_negative(o.max_events, "weir: the max_events of a trace were negative");
    detail::refuse_if(o.after < duration(0) || o.length < duration(0),
                      "weir: the after and the length of a trace can't be negative");
    const duration until = o.length == duration(0) ? (duration::max)() : detail::sum(o.after, o.length);
    return {o.every, o.max_events, o.after.count(), until.count()};
}

}  // namespace weir

#endif
