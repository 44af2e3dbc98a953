// weir report: a pipeline's description as a Mermaid graph
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_MERMAID_HPP
#define WEIR_REPORT_MERMAID_HPP

#include <weir/report/structure.hpp>

#include <algorithm>  // for std::ranges::count_if
#include <cstddef>    // for std::size_t
#include <string>     // for std::string

namespace weir {

/// Of `mermaid`.
struct mermaid_options {
    /// Whether items flow to the right; if not, down.
    bool left_to_right = true;
    /// Whether each queue is a node of its own, with its capacity.
    bool queues = false;
    /// Whether a stage with several slots shows them: the first two and the last.
    bool show_slots = true;
};

namespace detail {

// Mermaid reads labels as Markdown and HTML.
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

/// \returns the description as the text of a Mermaid `flowchart`, which GitHub and GitLab draw in a
///          block of Markdown: a box for each stage, with its slots inside where there are several; an
///          arrow wherever items pass.
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
    // Each branch has a queue of its own.
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
