// weir report, internal: bodies of the functions of report/structure.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STRUCTURE_IPP
#define WEIR_REPORT_STRUCTURE_IPP

#include <weir/report/structure.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max, std::min, std::ranges::any_of, std::ranges::count_if
#include <utility>    // for std::move

namespace weir::detail {

// \returns a label in quotes, escaped, because Mermaid reads labels as Markdown and HTML.
inline std::string mermaid_label(const std::string& text) {
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

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string structure_text(const pipeline_description& description) {
    using row = std::vector<std::string>;
    std::vector<row> rows = {{"stage", "kind", "slots", "queue", "executor", "items"}};
    const bool known =
        std::ranges::any_of(description.stages, [](const described_stage& s) { return !s.where.empty(); });
    if (known) rows.front().emplace_back("composed at");
    // A description from a file may have any number as a depth: no stage is inside of more than all branches.
    const auto indent = [&](std::size_t depth) { return 4 * (std::min)(depth, description.branches.size()); };
    auto heading = description.branches.begin();
    const auto add_headings = [&](std::size_t place) {
        for (; heading != description.branches.end() && heading->begin <= place; ++heading) {
            std::string line(indent(heading->depth) + 2, ' ');
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
        rows.push_back({std::string(indent(s.depth), ' ') + detail::ascii_only(s.name),
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

WEIR_INLINE std::ostream& operator<<(std::ostream& out, const pipeline_description& description) {
    return detail::write_text(out, structure_text(description));
}

WEIR_INLINE std::string mermaid(const pipeline_description& description, mermaid_options options) {
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
    const auto add_queue = [&text](const std::string& id, const described_stage& s, const std::string& from) {
        text += "    " + id + "[(\"" + std::to_string(s.capacity) + "\")]\n    " + from + " --> " + id + "\n";
    };
    for (std::size_t i = 0; options.queues && i < stages.size(); ++i) {
        const auto leaves = [i](const described_edge& e) { return e.from == i; };
        const auto branches = [i](const described_edge& e) { return e.from == i && !e.branch.empty(); };
        const auto all = std::ranges::count_if(description.edges, leaves);
        // If each edge of the stage begins a branch, the loop below adds a queue for each of these edges.
        if (all > 0 && all == std::ranges::count_if(description.edges, branches)) continue;
        if (stages[i].capacity == 0) continue;
        add_queue("q" + std::to_string(i), stages[i], "s" + std::to_string(i));
    }
    for (std::size_t k = 0; k < description.edges.size(); ++k) {
        const described_edge& e = description.edges[k];
        std::string from = (options.queues ? "q" : "s") + std::to_string(e.from);
        if (options.queues && !e.branch.empty() && e.from < stages.size()) {
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
