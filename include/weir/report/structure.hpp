// weir report: the structure of a pipeline, as a value, as a table, and as a Mermaid graph
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STRUCTURE_HPP
#define WEIR_REPORT_STRUCTURE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/line.hpp>
#include <weir/run/stage_options.hpp>

#include <algorithm>  // for std::max, std::ranges::any_of, std::ranges::count_if
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
    std::string remark;           ///< what the other members do not say, such as the size of a batch
    std::string takes;            ///< the type of its input items; empty for a source
    std::string gives;            ///< the type of its output items
    std::size_t concurrency = 1;  ///< number of slots
    std::size_t capacity = 0;     ///< of its output queue, in items; 0: it has none
    std::size_t max_bytes = 0;    ///< of its output queue, in bytes; 0: no limit
    std::string executor;         ///< the type of its executor; empty: the executor of the run
    weir::output_order output_order = weir::output_order::completion;  ///< see `stage_options`
    duration time_limit{};                                             ///< of one invocation; 0: none
    bool epochs = false;                                               ///< its output has epochs
    std::size_t depth = 0;                                             ///< the number of branches around it
    std::string where;  ///< where it was composed: `loader.cpp:42`; empty: not known

    [[nodiscard]] friend bool operator==(const described_stage&, const described_stage&) = default;
};

/// Items pass from one of `pipeline_description::stages` to another.
struct described_edge {
    std::size_t from = 0;  ///< the index of the stage that gives
    std::size_t to = 0;    ///< the index of the stage that takes
    std::string branch;    ///< the branch that begins with this edge; empty: none

    [[nodiscard]] friend bool operator==(const described_edge&, const described_edge&) = default;
};

/// A part of a pipeline inside of a stage: an input of a merge, a branch of a route.
struct described_branch {
    std::string name;       ///< as given to `branch`; or `input 1`, ..., or `side`
    std::size_t depth = 0;  ///< the number of branches around it
    std::size_t begin = 0;  ///< the index of its first stage
    std::size_t end = 0;    ///< the index behind its last stage; `begin` if it has no stages

    [[nodiscard]] friend bool operator==(const described_branch&, const described_branch&) = default;
};

/// The structure of a pipeline, which `describe` returns. It can be kept, compared and printed.
struct pipeline_description {
    std::vector<described_stage> stages;     ///< in the order of the flow
    std::vector<described_edge> edges;       ///< ordered by `to`
    std::vector<described_branch> branches;  ///< ordered by `begin`; outer branches first

    [[nodiscard]] friend bool operator==(const pipeline_description&, const pipeline_description&) = default;
};

/// \returns the description as a table in ASCII, one line per stage. Stages inside of others are indented.
///          Nothing is cut.
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
            line += detail::ascii_only(heading->name) + ":";
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
        rows.push_back({std::string(4 * s.depth, ' ') + detail::ascii_only(s.name),
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

/// Writes `structure_text(description)` in one call. The stream's locale and format flags do not matter.
inline std::ostream& operator<<(std::ostream& out, const pipeline_description& description) {
    return detail::write_text(out, structure_text(description));
}

/// Options of `mermaid`.
struct mermaid_options {
    /// The graph runs from left to right; else from top to bottom.
    bool left_to_right = true;
    /// Each queue is a node of its own, with its capacity.
    bool queues = false;
    /// A stage with several slots shows the first two and the last.
    bool show_slots = true;
};

namespace detail {

// \returns a label in quotes, escaped, because Mermaid reads labels as Markdown and HTML.
[[nodiscard]] inline std::string mermaid_label(const std::string& text) {
    std::string label;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == ' ' || c == '_' || c == '-' || c == ',' || c == '.' || c == ':' || c == '(' ||
                           c == ')' || c == '/' || static_cast<unsigned char>(c) >= 0x80;
        if (plain) {
            label += c;
        } else if (static_cast<unsigned char>(c) < ' ') {
            label += ' ';
        } else {
            label += "#" + std::to_string(static_cast<int>(c)) + ";";
        }
    }
    return '"' + label + '"';
}

}  // namespace detail

/// \returns the description as a Mermaid `flowchart`, which GitHub and GitLab draw in a block of Markdown.
///          Each stage is a box, with its slots inside if there are several; each edge is an arrow.
[[nodiscard]] inline std::string mermaid(const pipeline_description& description,
                                         mermaid_options options = {}) {
    std::string text = options.left_to_right ? "flowchart LR\n" : "flowchart TB\n";
    const auto& stages = description.stages;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const described_stage& s = stages[i];
        const std::string id = "s" + std::to_string(i);
        const std::string label =
            detail::mermaid_label(s.remark.empty() ? s.name : s.name + " (" + s.remark + ")");
        if (s.concurrency > 1 && options.show_slots) {
            text += "    subgraph " + id + "[" + label + "]\n        direction TB\n";
            const auto add = [&](const std::string& which, const std::string& name) {
                text += "        " + id + "_" + which + "[" + name + "]\n";
            };
            add("1", "Task 1");
            if (s.concurrency > 2) add("2", "Task 2");
            if (s.concurrency > 3) add("more", "...");
            add("n", "Task " + std::to_string(s.concurrency));
            text += "    end\n";
        } else {
            text += "    " + id + "[" + label + "]\n";
        }
    }
    // Each branch has its own queue, which is added with its edge.
    const auto add_queue = [&text](const std::string& id, const described_stage& s, const std::string& from) {
        text += "    " + id + "[(\"" + std::to_string(s.capacity) + "\")]\n    " + from + " --> " + id + "\n";
    };
    for (std::size_t i = 0; options.queues && i < stages.size(); ++i) {
        const auto leaves = [i](const described_edge& e) { return e.from == i; };
        const auto branches = [i](const described_edge& e) { return e.from == i && !e.branch.empty(); };
        const auto all = std::ranges::count_if(description.edges, leaves);
        if (all > 0 && all == std::ranges::count_if(description.edges, branches)) continue;
        if (stages[i].capacity == 0) continue;
        add_queue("q" + std::to_string(i), stages[i], "s" + std::to_string(i));
    }
    for (std::size_t k = 0; k < description.edges.size(); ++k) {
        const described_edge& e = description.edges[k];
        std::string from = (options.queues ? "q" : "s") + std::to_string(e.from);
        if (options.queues && !e.branch.empty()) {
            const std::string stage = "s" + std::to_string(e.from);
            from = "q" + std::to_string(e.from) + "_" + std::to_string(k);
            add_queue(from, stages[e.from], stage);
        }
        text += "    " + from + " -->";
        if (!e.branch.empty()) text += "|" + detail::mermaid_label(e.branch) + "|";
        text += " s" + std::to_string(e.to) + "\n";
    }
    return text;
}

}  // namespace weir

#endif
