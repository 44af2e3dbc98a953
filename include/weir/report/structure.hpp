// weir report: what a pipeline is made of, as a value and as a tree of text
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STRUCTURE_HPP
#define WEIR_REPORT_STRUCTURE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/run/stage_options.hpp>

#include <algorithm>  // for std::max, std::ranges::any_of
#include <cstddef>    // for std::size_t
#include <ostream>    // for std::ostream
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// One stage of a pipeline's description.
struct described_stage {
    std::string name;             ///< see `stage_options::name`
    std::string kind;             ///< source, pipe, aggregate, disaggregate, sink, ...
    std::string remark;           ///< what is special to its kind, as how many items a batch has
    std::string takes;            ///< the type of the items; empty for a source
    std::string gives;            ///< the type of what leaves it
    std::size_t concurrency = 1;  ///< its slots
    std::size_t capacity = 0;     ///< of the queue behind it, in items; 0: there is none
    std::size_t max_bytes = 0;    ///< of that queue; 0: any number of bytes
    std::string executor;         ///< its type; empty: where the run is started
    weir::output_order output_order = weir::output_order::completion;  ///< see `stage_options`
    duration time_limit{};                                             ///< of one invocation; 0: none
    bool epochs = false;                                               ///< what it gives has epochs
    std::size_t depth = 0;  ///< in how many branches it lies, one inside of the other
    std::string where;      ///< where it was composed: `loader.cpp:42`; empty: not known

    [[nodiscard]] friend bool operator==(const described_stage&, const described_stage&) = default;
};

/// Items pass from one of `pipeline_description::stages` to another.
struct described_edge {
    std::size_t from = 0;  ///< the place of a stage
    std::size_t to = 0;    ///< that of another one
    std::string branch;    ///< that begins here; empty: none

    [[nodiscard]] friend bool operator==(const described_edge&, const described_edge&) = default;
};

/// A part that lies inside of a stage: an input of a merge, a way of a route.
struct described_branch {
    std::string name;       ///< as given to `branch`; or `input 1`, ..., or `side`
    std::size_t depth = 0;  ///< in how many others it lies
    std::size_t begin = 0;  ///< the place of its first stage
    std::size_t end = 0;    ///< the place after its last one; `begin` if it has none

    [[nodiscard]] friend bool operator==(const described_branch&, const described_branch&) = default;
};

/// What a pipeline is made of: a value that can be kept, compared and printed. See `describe`.
struct pipeline_description {
    std::vector<described_stage> stages;     ///< in the order in which items pass
    std::vector<described_edge> edges;       ///< by `to`
    std::vector<described_branch> branches;  ///< by `begin`; the outer ones first

    [[nodiscard]] friend bool operator==(const pipeline_description&, const pipeline_description&) = default;
};

namespace detail {

// One line, of whatever somebody called something.
[[nodiscard]] inline std::string printable(std::string text) {
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

}  // namespace detail

/// \returns the description as a table of the stages, those inside of others indented. ASCII, one
///          line a stage; nothing is cut.
[[nodiscard]] inline std::string structure_text(const pipeline_description& description) {
    using row = std::vector<std::string>;
    std::vector<row> rows = {{"stage", "kind", "slots", "queue", "executor", "items"}};
    const bool known =
        std::ranges::any_of(description.stages, [](const described_stage& s) { return !s.where.empty(); });
    if (known) rows.front().emplace_back("composed at");
    auto heading = description.branches.begin();
    const auto add_headings = [&](std::size_t place) {
        for (; heading != description.branches.end() && heading->begin <= place; ++heading) {
            std::string line(4 * heading->depth + 2, ' ');
            line += detail::printable(heading->name) + ":";
            if (heading->begin == heading->end) line += " (no stages)";
            rows.push_back({std::move(line)});
        }
    };
    for (std::size_t i = 0; i < description.stages.size(); ++i) {
        add_headings(i);
        const described_stage& s = description.stages[i];
        std::string items = s.takes;
        if (!s.gives.empty()) items += (items.empty() ? "-> " : " -> ") + s.gives;
        if (s.takes.empty() && s.epochs) items += ", in epochs";
        if (s.output_order == output_order::input) items += ", in order";
        if (s.time_limit > duration(0)) items += ", at most " + units::time(s.time_limit);
        rows.push_back({std::string(4 * s.depth, ' ') + detail::printable(s.name),
                        s.remark.empty() ? s.kind : s.kind + " (" + s.remark + ")",
                        std::to_string(s.concurrency),
                        (s.capacity == 0 ? "-" : std::to_string(s.capacity)) +
                            (s.max_bytes == 0 ? "" : ", " + units::bytes(s.max_bytes)),
                        s.executor.empty() ? "-" : s.executor, std::move(items)});
        if (known) rows.back().push_back(s.where.empty() ? "-" : s.where);
    }
    add_headings(description.stages.size());
    std::size_t widths[7] = {};
    for (const row& r : rows) {
        for (std::size_t i = 0; i < r.size() && r.size() > 1; ++i)
            widths[i] = (std::max)(widths[i], r[i].size());
    }
    std::string text;
    for (const row& r : rows) {
        for (std::size_t i = 0; i + 1 < r.size(); ++i) {
            const bool number = i == 2 || i == 3;
            text += (number ? units::right(r[i], widths[i]) : units::left(r[i], widths[i])) + "  ";
        }
        text += r.back() + '\n';
    }
    if (!description.stages.empty()) {
        text += "\nqueue: its capacity, behind the stage; executor -: where the run is started\n";
    }
    return text;
}

/// Writes `structure_text(description)` at once. Neither the stream's locale nor its flags change it.
inline std::ostream& operator<<(std::ostream& out, const pipeline_description& description) {
    const std::string text = structure_text(description);
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace weir

#endif
