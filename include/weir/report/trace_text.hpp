// weir report, internal: what was written down of a run as trace events, which Perfetto shows
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TRACE_TEXT_HPP
#define WEIR_REPORT_TRACE_TEXT_HPP

#include <weir/measure/slot_times.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/owning_list.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/trace_ring.hpp>
#include <weir/report/trace_run.hpp>
#include <weir/report/trace_slot.hpp>

#include <algorithm>  // for std::lower_bound, std::sort
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <tuple>      // for std::tuple
#include <vector>     // for std::vector

namespace weir::detail {

// Source: "Trace Event Format", Google 2016. A lane, which it calls a thread, for each slot, on which spans
// lie inside of each other or apart; a pair `s`, `f` for each step of an item from one visit to another.
class trace_writer {
  public:
    explicit trace_writer(const run_trace& run, const owning_list<stage_trace>& stages)
        : run_(run), stages_(stages) {
        std::uint32_t lane = 0;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            std::size_t slot = 0;
            for (const slot_trace* const each : stages[i]->per_slot) {
                begin_lane(*stages[i], ++lane, slot++);
                read(*each, lane, i);
            }
        }
        connect();
        // What is around something else comes before it, and a step behind the span in which it is.
        std::sort(lines_.begin(), lines_.end());
    }

    std::string text() {
        std::string all =
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"events_dropped\":\"" + std::to_string(dropped_) +
            "\",\"flows_lost\":\"" + std::to_string(run_.lost()) + "\",\"every\":\"" +
            std::to_string(run_.settings().every) +
            "\"},\n\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\","
            "\"args\":{\"name\":\"weir\"}}";
        if (dropped_ + run_.lost() != 0) {
            all +=
                ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"" +
                std::to_string(dropped_) + " events dropped, the oldest; " + std::to_string(run_.lost()) +
                " flows lost\"}}";
        }
        all += lanes_;
        all.reserve(all.size() + 110 * lines_.size());
        for (const line& each : lines_) write(all, each);
        return all += "\n]}\n";
    }

  private:
    // In the order in which those of one instant stand.
    enum class kind : std::uint8_t { visit, state, leaves, comes, depth };
    struct line {
        trace_event event;
        kind is;
        std::uint32_t lane;
        std::uint64_t id;  // of a step; else its place in the slot

        auto place() const noexcept {
            const bool of_queue = is == kind::depth;
            return std::tuple(event.begin, is, of_queue ? event.where : lane, of_queue ? event.number : id);
        }
        friend bool operator<(const line& a, const line& b) { return a.place() < b.place(); }
    };
    // A place where an item left one visit, or came into another. Of a queue, or kept by a slot.
    struct end_of_step {
        std::uint64_t where;
        std::uint64_t number;
        std::int64_t at;
        std::int64_t begin;  // of its visit
        std::uint64_t item;
        std::uint32_t lane;
        auto name() const noexcept { return std::tuple(where, number); }
        friend bool operator<(const end_of_step& a, const end_of_step& b) { return a.name() < b.name(); }
    };

    void begin_lane(const stage_trace& stage, std::uint32_t lane, std::size_t slot) {
        const std::string head =
            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(lane) + ",\"name\":\"thread_";
        lanes_ += head + "name\",\"args\":{\"name\":";
        append_json(lanes_,
                    stage.per_slot.size() == 1 ? stage.name : stage.name + " #" + std::to_string(slot));
        lanes_ += "}}" + head + "sort_index\",\"args\":{\"sort_index\":" + std::to_string(lane) + "}}";
    }

    // Of each visit what belongs to it was written before it; and nothing else was.
    void read(const slot_trace& slot, std::uint32_t lane, std::size_t stage) {
        stage_of_lane_.resize(lane + 1);
        stage_of_lane_[lane] = stage;
        dropped_ += slot.events.count() - slot.events.kept();
        std::size_t first = 0;
        for (std::size_t i = 0; i < slot.events.kept(); ++i) {
            const trace_event& visit = slot.events[i];
            if (visit.kind != trace_kind::visit) continue;
            lines_.push_back({visit, kind::visit, lane, i});
            for (; first < i; ++first) read_part(slot.events[first], visit, lane, first);
            first = i + 1;
        }
    }
    void read_part(const trace_event& e, const trace_event& visit, std::uint32_t lane, std::size_t place) {
        constexpr std::uint64_t kept = std::uint64_t{1} << 32U;  // beside the queues
        const auto step = [&](std::uint64_t where, std::uint64_t number) {
            return end_of_step{where, number, e.begin, visit.begin, visit.number, lane};
        };
        switch (e.kind) {
            case trace_kind::state:
                lines_.push_back({e, kind::state, lane, place});
                break;
            case trace_kind::depth:
                lines_.push_back({e, kind::depth, lane, place});
                break;
            case trace_kind::left:
                leave_.push_back(step(e.where, e.number));
                break;
            case trace_kind::came:
                come_.push_back(step(e.where, e.number));
                break;
            case trace_kind::kept:
                leave_.push_back(step(kept + lane, e.number));
                break;
            case trace_kind::gathered:
                for (std::uint64_t n = e.number; n <= e.tag; ++n) come_.push_back(step(kept + lane, n));
                break;
            case trace_kind::visit:
                break;
        }
    }

    // Both ends of a step, where both are still there.
    void connect() {
        std::sort(leave_.begin(), leave_.end());
        std::sort(come_.begin(), come_.end());
        auto from = leave_.begin();
        for (const end_of_step& to : come_) {
            while (from != leave_.end() && *from < to) ++from;
            if (from == leave_.end()) break;
            if (to < *from) continue;
            // Clocks of two processors may differ by some nanoseconds.
            const std::int64_t at = larger(from->begin, smaller(from->at, to.at));
            if (at > to.at) continue;
            ++steps_;
            lines_.push_back(
                {{at, at, from->item, 0, 0, trace_kind::left, 0}, kind::leaves, from->lane, steps_});
            lines_.push_back(
                {{to.at, to.at, to.item, 0, 0, trace_kind::came, 0}, kind::comes, to.lane, steps_});
        }
    }

    // Microseconds since the run began, with three digits behind the point.
    static void append_time(std::string& out, const char* name, std::int64_t ns) {
        const std::string digits = std::to_string(1000 + ns % 1000);
        ((out += name) += std::to_string(ns / 1000)) += '.';
        out.append(digits, 1, 3);
    }
    void append_head(std::string& out, const char* phase, const line& l) const {
        ((out += ",\n{\"ph\":\"") += phase) += "\",\"pid\":1,\"tid\":";
        out += std::to_string(l.lane);
        append_time(out, ",\"ts\":", time_between(run_.begin(), l.event.begin));
    }
    void append_span(std::string& out, const line& l, const std::string& name) const {
        append_head(out, "X", l);
        append_time(out, ",\"dur\":", time_between(l.event.begin, l.event.end));
        out += ",\"name\":";
        append_json(out, name);
    }

    void write(std::string& out, const line& l) const {
        const trace_event& e = l.event;
        switch (l.is) {
            case kind::visit:
                append_span(out, l, stages_[stage_of_lane_[l.lane]]->name);
                out += ",\"cat\":\"item\",\"args\":{\"item\":" + std::to_string(e.number) +
                       ",\"epoch\":" + std::to_string(e.where) + ",\"from\":";
                append_json(out, stages_[slot_trace::stage_of(e.tag)]->name + " " +
                                     std::to_string(slot_trace::number_of(e.tag)));
                out += e.what != 0 ? ",\"failed\":true}}" : "}}";
                break;
            case kind::state:
                append_span(out, l, states_by_number[e.what].name);
                out += ",\"cat\":\"state\"}";
                break;
            case kind::leaves:
            case kind::comes:
                append_head(out, l.is == kind::leaves ? "s" : "f", l);
                out += l.is == kind::leaves ? "" : ",\"bp\":\"e\"";
                out += ",\"id\":" + std::to_string(l.id) +
                       ",\"cat\":\"item\",\"name\":\"item\",\"args\":{\"item\":" + std::to_string(e.number) +
                       "}}";
                break;
            case kind::depth:
                append_head(out, "C", line{e, l.is, 0, 0});
                out += ",\"name\":";
                append_json(out, run_.queue_names()[e.where] + "_queue");
                out += ",\"args\":{\"items\":" + std::to_string(e.tag) + "}}";
                break;
        }
    }

    const run_trace& run_;
    const owning_list<stage_trace>& stages_;
    std::uint64_t dropped_ = 0;
    std::string lanes_;
    std::vector<std::size_t> stage_of_lane_;
    std::vector<line> lines_;
    std::vector<end_of_step> leave_;
    std::vector<end_of_step> come_;
    std::uint64_t steps_ = 0;
};

inline std::string trace_text(const run_trace& run) {
    return run.read(
        [&run](const owning_list<stage_trace>& stages) { return trace_writer(run, stages).text(); });
}

}  // namespace weir::detail

#endif
