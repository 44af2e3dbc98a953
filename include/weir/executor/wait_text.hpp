// weir executor, internal: who waits for what, in words: those that wait alike are one line
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WAIT_TEXT_HPP
#define WEIR_EXECUTOR_WAIT_TEXT_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/platform/registry.hpp>
#include <weir/platform/source_place.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// Of a wait.
struct wait_words {
    std::string who;    // "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;  // empty: not of one
    std::string where;  // of that: "loader.cpp:42"
    std::string at;     // "channel 'y' is full, 64 of 64"; empty: not at a channel
    std::string what;   // behind "waits": "to put"
    std::string why;    // behind all that

    bool is_like(const wait_words& o) const {
        return at == o.at && what == o.what && why == o.why && where == o.where && stage == o.stage &&
               (!stage.empty() || who == o.who);
    }
};

// The lines of a report: a wait that is like one of them is added to that.
class wait_lines {
  public:
    void add(wait_words words) {
        for (line& each : lines_) {
            if (!each.words.is_like(words)) continue;
            ++each.count;
            return;
        }
        lines_.push_back({std::move(words), 1});
    }

    // Of each "stage 'x', slot 3" or "16 slots of stage 'x'".
    std::vector<std::string> subjects() const {
        std::vector<std::string> all;
        all.reserve(lines_.size());
        for (const line& each : lines_) all.push_back(each.subject());
        return all;
    }

    // "\n  channel 'y' is full, 64 of 64: 16 slots of stage 'x' (loader.cpp:42) wait to put", and so on.
    std::string text(std::size_t most = static_cast<std::size_t>(-1)) const {
        std::string text;
        for (std::size_t i = 0; i < lines_.size() && i < most; ++i) text += "\n  " + lines_[i].text();
        if (lines_.size() > most) text += "\n  and " + std::to_string(lines_.size() - most) + " more";
        return text;
    }

  private:
    struct line {
        wait_words words;
        std::size_t count;

        std::string text() const {
            const wait_words& w = words;
            return (w.at.empty() ? "" : w.at + ": ") + subject() +
                   (w.where.empty() ? "" : " (" + w.where + ")") + (count > 1 ? " wait " : " waits ") +
                   w.what + w.why;
        }
        // Of who is no stage's "a thread" or "2 threads".
        std::string subject() const {
            if (count == 1) return words.who;
            const std::string number = std::to_string(count);
            if (!words.stage.empty()) return number + " slots of stage '" + words.stage + "'";
            const std::size_t article = words.who.starts_with("a ") ? 2 : 0;
            return number + " " + words.who.substr(article) + "s";
        }
    };

    std::vector<line> lines_;
};

inline std::string name_of(const wait_seen& w) {
    if (w.who != nullptr) return "stage '" + w.who->stage() + "', slot " + std::to_string(w.who->number());
    return w.is_thread ? "a thread" : "a coroutine";
}
// "channel 'y' is full, 64 of 64"; empty where it is none.
inline std::string state_of(const site_seen& at) {
    if (at.channel == nullptr) return {};
    const char* const is = at.closed                ? " is closed, "
                           : at.size >= at.capacity ? " is full, "
                           : at.size == 0           ? " is empty, "
                                                    : " holds ";
    return "channel " + (at.channel->empty() ? "(unnamed)" : "'" + *at.channel + "'") + is +
           std::to_string(at.size) + " of " + std::to_string(at.capacity);
}
inline wait_words words_of(const site_seen& at, const wait_seen& w) {
    wait_words words{name_of(w), {}, {}, state_of(at), w.what, {}};
    if (w.who != nullptr) {
        words.stage = w.who->stage();
        words.where = detail::place_text(w.who->where());
    }
    return words;
}

// Of those that wait for ever, the likelier cause has the lower rank: a function waits for what the run
// knows nothing of; who finds a queue full keeps others from going on, and those starve those behind them.
inline constexpr unsigned wait_ranks = 6;
inline unsigned rank_of(const wait_seen& w) noexcept {
    const bool by_function = w.in_function && w.who != nullptr;
    if (w.kind == wait_kind::thread || w.kind == wait_kind::outside) return 0;
    if (w.kind == wait_kind::put) return by_function ? 0 : 2;
    if (w.kind == wait_kind::get) return by_function ? 1 : 4;
    return w.kind == wait_kind::bench ? 5 : 3;
}

// Those that wait there, of that rank or of each.
inline void add_waiters(wait_lines& lines, const wait_site& at, unsigned rank = wait_ranks) {
    site_seen seen;
    at.inspect(seen);
    for (const wait_seen& w : seen.waiting) {
        if (rank == wait_ranks || detail::rank_of(w) == rank) lines.add(detail::words_of(seen, w));
    }
}
inline std::string waiters_at(const wait_site& at) {
    wait_lines lines;
    detail::add_waiters(lines, at);
    return lines.text();
}

// On the one thread that uses all of them: who waits, the likely cause first; and what the first one says
// that has something to say.
inline std::string waiters_at(registry& all) {
    wait_lines lines;
    for (unsigned rank = 0; rank < wait_ranks; ++rank)
        all.each<wait_site>([&](const wait_site& each) { detail::add_waiters(lines, each, rank); });
    return lines.text();
}
inline std::string contradiction_in(registry& all) {
    std::string report;
    all.each<wait_site>([&report](const wait_site& p) {
        const char* const what = report.empty() ? p.contradiction() : nullptr;
        if (what != nullptr) report = what + detail::waiters_at(p);
    });
    return report;
}

}  // namespace weir::detail

#endif
