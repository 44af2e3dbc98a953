// weir report: the structure of a pipeline, as a value, as a table, and as a Mermaid graph
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STRUCTURE_HPP
#define WEIR_REPORT_STRUCTURE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/table.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>  // for std::size_t
#include <ostream>  // for std::ostream
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// One stage of a pipeline's description.
struct described_stage {
    std::string name;             ///< the stage's name in statistics and reports
    std::string kind;             ///< source, pipe, aggregate, disaggregate, sink, ...
    std::string remark;           ///< what the other members do not say, such as the size of a batch
    std::string takes;            ///< the type of its input items; empty for a source
    std::string gives;            ///< the type of its output items; empty without an output queue
    std::size_t concurrency = 1;  ///< number of slots (workers)
    std::size_t capacity = 0;     ///< of its output queue, in items; 0: no output queue
    std::size_t max_bytes = 0;    ///< of its output queue, in bytes; 0: no limit
    std::string executor;         ///< the type of its executor; empty: the executor of the run
    weir::output_order output_order = weir::output_order::completion;  ///< in which order its results leave
    duration time_limit{};                                             ///< of one invocation; 0: none
    bool epochs = false;    ///< its output tells the ends of epochs (passes over the data)
    std::size_t depth = 0;  ///< the number of branches around it
    std::string where;      ///< where the stage was composed: `loader.cpp:42`; empty: not known

    [[nodiscard]] friend bool operator==(const described_stage&, const described_stage&) = default;
};

/// Items pass from one of `pipeline_description::stages` to another.
struct described_edge {
    std::size_t from = 0;  ///< the index of the stage that puts the items
    std::size_t to = 0;    ///< the index of the stage that takes them
    std::string branch;    ///< the name of the branch that begins with this edge; empty: none begins

    [[nodiscard]] friend bool operator==(const described_edge&, const described_edge&) = default;
};

/// A part of a pipeline inside of a stage: an input of a merge, a branch of a route.
struct described_branch {
    std::string name;       ///< given to `branch`; else `input 1`, ... for a merge, `side` for a `tee`
    std::size_t depth = 0;  ///< the number of branches around it
    std::size_t begin = 0;  ///< the index of its first stage
    std::size_t end = 0;    ///< the index behind its last stage; `begin` if there are no stages

    [[nodiscard]] friend bool operator==(const described_branch&, const described_branch&) = default;
};

/// The structure of a pipeline, which `describe` returns. It can be kept, compared and printed.
struct pipeline_description {
    std::vector<described_stage> stages;     ///< in the order of the flow
    std::vector<described_edge> edges;       ///< ordered by `to`
    std::vector<described_branch> branches;  ///< ordered by `begin`; outer branches first

    [[nodiscard]] friend bool operator==(const pipeline_description&, const pipeline_description&) = default;
};

/// \returns the description as a table, one line per stage. Stages inside of others are indented below the
///          name of their branch. Names are in ASCII, with `?` for other bytes. Nothing is cut.
[[nodiscard]] std::string structure_text(const pipeline_description& description);

/// Writes `structure_text(description)` in one call. The stream's locale and format flags do not matter.
std::ostream& operator<<(std::ostream& out, const pipeline_description& description);

/// Options of `mermaid`.
struct mermaid_options {
    /// True: the graph runs from left to right; false: from top to bottom.
    bool left_to_right = true;
    /// True: each queue is a node of its own, with its capacity.
    bool queues = false;
    /// True: the box of a stage with several slots shows the first two and the last.
    bool show_slots = true;
};

/// \returns the description as a Mermaid `flowchart`. GitHub and GitLab draw the flowchart if it stands in a
///          Markdown code block of the language `mermaid`. Each stage is a box, with its slots inside if the
///          stage has several slots; each edge is an arrow.
[[nodiscard]] std::string mermaid(const pipeline_description& description, mermaid_options options = {});

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/structure.ipp>
#endif

#endif
