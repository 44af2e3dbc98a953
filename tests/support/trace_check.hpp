// Reads a trace as `trace_report` writes it, and says what is wrong with it: spans that overlap, steps without
// an end, times that go back. What is right is there to be asked for.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_TRACE_CHECK_HPP
#define WEIR_TESTS_SUPPORT_TRACE_CHECK_HPP

#include <weir/report/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traces {

struct span {
    std::int64_t begin = 0;  // ns
    std::int64_t end = 0;
    int lane = 0;
    bool is_item = false;  // else a state of its slot
    std::string name;
    std::uint64_t item = 0;
    std::uint64_t epoch = 0;
    std::string from;
    bool failed = false;
    std::size_t depth = 0;  // in how many others it lies
};
struct step {
    const span* from = nullptr;
    const span* to = nullptr;
    std::int64_t left = 0;
    std::int64_t came = 0;
};
struct depth {
    std::int64_t at = 0;
    std::string queue;
    std::int64_t items = 0;
};

class trace {
  public:
    // `whole`: it is read as one value of JSON, too.
    explicit trace(const std::string& text, bool whole = true) {
        if (whole) static_cast<void>(weir::detail::json_reader(text).whole());
        const std::string_view all = text;
        const std::size_t head = all.find(",\n\"traceEvents\":[\n");
        check(head != all.npos && all.ends_with("\n]}\n"), "it has a head and an end");
        if (head == all.npos) return;
        about = weir::detail::json_reader(std::string(all.substr(0, head)) + "}").whole();
        std::size_t at = head + 18;
        while (at < all.size()) {
            const std::size_t end = all.find('\n', at);
            std::string_view line = all.substr(at, end - at);
            at = end + 1;
            if (line == "]}") break;
            if (line.ends_with(',')) line.remove_suffix(1);
            read(weir::detail::json_reader(line).whole());
        }
        nest();
        match();
    }

    std::string wrong;  // a line for each of the first few things
    weir::detail::json_value about;
    std::vector<span> spans;  // as they stand there; not moved
    std::vector<step> steps;
    std::vector<depth> depths;
    std::map<int, std::string> lanes;

    std::uint64_t dropped() const { return number_of(*about.find("otherData")->find("events_dropped")); }

    // The visit of that item of that stage; null: it isn't there.
    const span* visit(std::string_view stage, std::uint64_t item) const {
        for (const span& s : spans) {
            if (s.is_item && s.name == stage && s.item == item) return &s;
        }
        return nullptr;
    }
    std::size_t visits(std::string_view stage) const {
        std::size_t n = 0;
        for (const span& s : spans) n += s.is_item && s.name == stage ? 1U : 0U;
        return n;
    }
    // Where its items went: the visits, as `decode 17`, in the order in which they went.
    std::vector<std::string> next(const span* from) const {
        std::vector<std::string> all;
        for (const step& s : steps) {
            if (s.from == from) all.push_back(s.to->name + " " + std::to_string(s.to->item));
        }
        return all;
    }

  private:
    struct step_end {
        std::uint64_t id = 0;
        std::int64_t at = 0;
        int lane = 0;
        std::uint64_t item = 0;
    };

    void check(bool right, const std::string& what) {
        if (!right && ++complaints_ < 6) wrong += what + "\n";
    }
    static std::uint64_t number_of(const weir::detail::json_value& v) { return std::stoull(v.text); }
    static std::uint64_t item_of(const weir::detail::json_value& e) {
        return number_of(*e.find("args")->find("item"));
    }
    // Microseconds, with three digits behind the point.
    static std::int64_t time_of(const weir::detail::json_value& v) {
        const std::size_t point = v.text.find('.');
        return std::stoll(v.text.substr(0, point)) * 1000 + std::stoll(v.text.substr(point + 1));
    }

    void read(const weir::detail::json_value& e) {
        const std::string& phase = e.find("ph")->text;
        const int lane = std::stoi(e.find("tid")->text);
        check(e.find("pid")->text == "1", "all is in one process");
        if (phase == "M") {
            if (e.find("name")->text == "thread_name") lanes[lane] = e.find("args")->find("name")->text;
            return;
        }
        const auto* const ts = e.find("ts");
        check(ts->text.size() > 4 && ts->text[ts->text.size() - 4] == '.',
              "a time has three digits: " + ts->text);
        const std::int64_t at = time_of(*ts);
        check(at >= now_, "no event comes before the one before it: " + ts->text);
        now_ = at;
        check(phase == "C" || lanes.contains(lane), "a lane has a name before it is used");
        if (phase == "X") {
            span s;
            s.begin = at;
            s.end = at + time_of(*e.find("dur"));
            check(s.end >= s.begin, "no span ends before it begins");
            s.lane = lane;
            s.name = e.find("name")->text;
            s.is_item = e.find("cat")->text == "item";
            if (s.is_item) {
                const auto& args = *e.find("args");
                s.item = item_of(e);
                s.epoch = number_of(*args.find("epoch"));
                s.from = args.find("from")->text;
                s.failed = args.find("failed") != nullptr;
                check(lanes[lane] == s.name || lanes[lane].starts_with(s.name + " #"),
                      s.name + " is on its lane");
            }
            spans.push_back(s);
        } else if (phase == "s") {
            leave_.push_back({number_of(*e.find("id")), at, lane, item_of(e)});
        } else if (phase == "f") {
            check(e.find("bp") != nullptr && e.find("bp")->text == "e", "a step ends in the span around it");
            come_.push_back({number_of(*e.find("id")), at, lane, item_of(e)});
        } else if (phase == "C") {
            depths.push_back({at, e.find("name")->text, std::stoll(e.find("args")->find("items")->text)});
            check(depths.back().items >= 0, "no queue holds fewer than no items");
        } else {
            check(false, "an event of phase " + phase);
        }
    }

    // Spans stand in the order of their begin, the outer ones first.
    void nest() {
        std::map<int, std::vector<const span*>> open;
        for (span& s : spans) {
            auto& around = open[s.lane];
            while (!around.empty() && around.back()->end <= s.begin &&
                   !(is_point(s) && holds(*around.back(), s))) {
                around.pop_back();
            }
            check(around.empty() || s.end <= around.back()->end, "spans of lane " + lanes[s.lane] +
                                                                     " overlap: " + s.name + " at " +
                                                                     std::to_string(s.begin));
            s.depth = around.size();
            check(s.depth == 0 || around.back()->is_item, "a state lies in no state");
            check(!s.is_item || s.depth == 0, "an item's span lies in none: " + s.name);
            around.push_back(&s);
        }
    }
    static bool is_point(const span& s) { return s.begin == s.end && !s.is_item; }
    static bool holds(const span& outer, const span& s) { return outer.is_item && outer.end == s.begin; }

    void match() {
        std::map<std::uint64_t, std::pair<const step_end*, const step_end*>> all;
        for (const step_end& e : leave_) {
            check(all.emplace(e.id, std::pair(&e, nullptr)).second,
                  "a step begins once: " + std::to_string(e.id));
        }
        for (const step_end& e : come_) {
            const auto found = all.find(e.id);
            check(found != all.end(), "a step that ends has begun: " + std::to_string(e.id));
            if (found == all.end()) continue;
            check(found->second.second == nullptr, "a step ends once: " + std::to_string(e.id));
            found->second.second = &e;
        }
        std::map<int, std::vector<const span*>> on;
        for (const span& s : spans) {
            if (s.is_item) on[s.lane].push_back(&s);
        }
        for (const auto& [id, ends] : all) {
            check(ends.second != nullptr, "a step that begins ends: " + std::to_string(id));
            if (ends.second == nullptr) continue;
            check(ends.first->at <= ends.second->at, "a step goes forward in time: " + std::to_string(id));
            const span* from = at(on[ends.first->lane], *ends.first);
            const span* to = at(on[ends.second->lane], *ends.second);
            check(from != nullptr, "a step begins in a span: " + std::to_string(id));
            check(to != nullptr, "a step ends in a span: " + std::to_string(id));
            if (from != nullptr && to != nullptr)
                steps.push_back({from, to, ends.first->at, ends.second->at});
        }
    }
    // The last one of that item that holds that instant.
    static const span* at(const std::vector<const span*>& lane, const step_end& e) {
        auto i = std::ranges::upper_bound(lane, e.at, {}, &span::begin);
        while (i != lane.begin() && (*--i)->end >= e.at) {
            if ((*i)->item == e.item) return *i;
        }
        return nullptr;
    }

    int complaints_ = 0;
    std::int64_t now_ = 0;
    std::vector<step_end> leave_;
    std::vector<step_end> come_;
};

}  // namespace traces

#endif
