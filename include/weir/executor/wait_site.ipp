// weir executor, internal: bodies of the functions of executor/wait_site.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WAIT_SITE_IPP
#define WEIR_EXECUTOR_WAIT_SITE_IPP

#include <weir/executor/wait_site.hpp>

#include <weir/platform/config.hpp>

#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE void register_site(wait_site& site, const executor& ex) noexcept {
    registry* const own = ex.traits().waiters;
    (own != nullptr ? *own : *the_registry).add(site);
}

WEIR_INLINE bool wait_words::is_like(const wait_words& o) const {
    return at == o.at && what == o.what && why == o.why && where == o.where && stage == o.stage &&
           (!stage.empty() || who == o.who);
}

WEIR_INLINE void wait_lines::add(wait_words words) {
    for (line& each : lines_) {
        if (!each.words.is_like(words)) continue;
        ++each.count;
        return;
    }
    if (lines_.size() == most_) {
        ++only_counted_;
    } else {
        lines_.push_back({std::move(words), 1});
    }
}

WEIR_INLINE std::vector<std::string> wait_lines::subjects() const {
    std::vector<std::string> all;
    all.reserve(lines_.size());
    for (const line& each : lines_) all.push_back(each.subject());
    return all;
}

WEIR_INLINE std::string wait_lines::text() const {
    std::string text;
    for (const line& each : lines_) text += "\n  " + each.text();
    if (only_counted_ > 0) text += "\n  and " + std::to_string(only_counted_) + " more";
    return text;
}

WEIR_INLINE std::string wait_lines::line::text() const {
    const wait_words& w = words;
    return (w.at.empty() ? "" : w.at + ": ") + subject() + (w.where.empty() ? "" : " (" + w.where + ")") +
           (count > 1 ? " wait " : " waits ") + w.what + w.why;
}

WEIR_INLINE std::string wait_lines::line::subject() const {
    if (count == 1) return words.who;
    const std::string number = std::to_string(count);
    if (!words.stage.empty()) return number + " slots of stage '" + words.stage + "'";
    const std::size_t article = words.who.starts_with("a ") ? 2 : 0;  // its length
    return number + " " + words.who.substr(article) + "s";
}

WEIR_INLINE std::string name_of(const wait_seen& w) {
    if (w.who != nullptr) return "stage '" + w.who->stage() + "', slot " + std::to_string(w.who->number());
    return w.is_thread ? "a thread" : "a coroutine";
}

WEIR_INLINE std::string state_of(const site_seen& at) {
    if (at.channel == nullptr) return {};
    const char* const is = at.closed                ? " is closed, "
                           : at.size >= at.capacity ? " is full, "
                           : at.size == 0           ? " is empty, "
                                                    : " holds ";
    return "channel " + (at.channel->empty() ? "(unnamed)" : "'" + *at.channel + "'") + is +
           std::to_string(at.size) + " of " + std::to_string(at.capacity);
}

WEIR_INLINE wait_words words_of(const site_seen& at, const wait_seen& w) {
    // A slot (worker of a stage) that waits for its turn waits for other slots, not for what is in the
    // channel.
    wait_words words{name_of(w), {}, {}, w.kind == wait_kind::turn ? "" : state_of(at), w.what, {}};
    if (w.who != nullptr) {
        words.stage = w.who->stage();
        words.where = detail::place_text(w.who->where());
    }
    return words;
}

WEIR_INLINE unsigned rank_of(const wait_seen& w) noexcept {
    const bool by_function = w.in_function && w.who != nullptr;
    if (w.kind == wait_kind::thread || w.kind == wait_kind::outside) return 0;
    if (w.kind == wait_kind::put) return by_function ? 0 : 2;
    if (w.kind == wait_kind::get) return by_function ? 1 : 4;
    return w.kind == wait_kind::bench ? 5 : 3;
}

WEIR_INLINE void add_waiters(wait_lines& lines, const wait_site& at, unsigned rank) {
    site_seen seen;
    at.inspect(seen);
    for (const wait_seen& w : seen.waiting) {
        if (rank == wait_ranks || detail::rank_of(w) == rank) lines.add(detail::words_of(seen, w));
    }
}

WEIR_INLINE std::string waiters_at(const wait_site& at) {
    wait_lines lines;
    detail::add_waiters(lines, at);
    return lines.text();
}

WEIR_INLINE std::string waiters_at(registry& all) {
    wait_lines lines(most_wait_lines);
    for (unsigned rank = 0; rank < wait_ranks; ++rank)
        all.each<wait_site>([&](const wait_site& each) { detail::add_waiters(lines, each, rank); });
    return lines.text();
}

WEIR_INLINE std::string contradiction_in(registry& all) {
    std::string report;
    all.each<wait_site>([&report](const wait_site& p) {
        const char* const what = report.empty() ? p.contradiction() : nullptr;
        if (what != nullptr) report = what + detail::waiters_at(p);
    });
    return report;
}

}  // namespace weir::detail

#endif
