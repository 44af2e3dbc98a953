// weir report: statistics as the text that Prometheus and OpenMetrics scrape
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_HPP
#define WEIR_REPORT_METRICS_HPP

#include <weir/measure/stats.hpp>
#include <weir/report/metric_families.hpp>
#include <weir/report/metric_samples.hpp>
#include <weir/report/metrics_format.hpp>

#include <algorithm>    // for std::ranges::find, std::ranges::sort
#include <cstddef>      // for std::size_t
#include <iterator>     // for std::begin
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// Tells samples apart: `{"run", "training"}`.
struct metric_label {
    std::string
        name;  ///< of ASCII letters, digits and `_`, not first a digit or `__`, and none of the library's own
    std::string value;  ///< any text; of what is no UTF-8, and of 0, each byte is written as U+FFFD

    [[nodiscard]] friend bool operator==(const metric_label&, const metric_label&) = default;
};

/// Of a text of metrics.
struct metrics_options {
    /// Of every sample. Where a process has several runs, each needs one of its own: `run`.
    std::vector<metric_label> labels = {};
    /// Which of the two texts.
    metrics_format format = metrics_format::prometheus;
};

/// One of several runs whose metrics are in one text.
struct labelled_run {
    std::vector<metric_label> labels;  ///< that no other run has
    pipeline_stats stats;              ///< from the start of the run
};

namespace detail {

inline void check_labels(const std::vector<metric_label>& labels) {
    std::vector<std::string_view> known(std::begin(metric_labels), std::end(metric_labels));
    for (const metric_label& l : labels) {
        bool right =
            !l.name.empty() && l.name.substr(0, 2) != "__" && !(l.name[0] >= '0' && l.name[0] <= '9');
        for (const char c : l.name) {
            right = right &&
                    ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
        }
        if (!right) {
            throw std::invalid_argument(
                "weir: '" + l.name +
                "' can't be the name of a label of metrics: it takes letters, digits and _, "
                "and begins with none of the digits and no __");
        }
        if (std::ranges::find(known, l.name) != known.end()) {
            throw std::invalid_argument(
                "weir: the label '" + l.name +
                "' is there twice, or is one of the library's own: take another name");
        }
        known.push_back(l.name);
    }
}

// For Prometheus a label without a value is none, and their order means nothing.
[[nodiscard]] inline std::string labels_text(std::vector<metric_label> labels) {
    std::ranges::sort(labels, {}, &metric_label::name);
    std::string text;
    for (const metric_label& l : labels) {
        if (!l.value.empty()) (text += text.empty() ? "" : ",") += label_text(l.name, l.value);
    }
    return text;
}

class metrics_writer {
    struct one {
        std::string labels;
        const pipeline_stats& stats;
    };
    const metrics_format format_;
    std::vector<one> runs_;
    std::string text_;

  public:
    explicit metrics_writer(metrics_format format) noexcept : format_(format) {}

    // Which outlive it.
    void add(const std::vector<metric_label>& of_run, const pipeline_stats& stats) {
        check_labels(of_run);
        std::string labels = labels_text(of_run);
        if (std::ranges::find(runs_, labels, &one::labels) != runs_.end()) {
            throw std::invalid_argument("weir: two runs in one text of metrics have the same labels {" +
                                        labels + "}: give each one of its own, as {\"run\", \"training\"}");
        }
        runs_.push_back({std::move(labels), stats});
    }

    // Family by family, as both formats want it; of each, run by run.
    [[nodiscard]] std::string text() && {
        write(metrics_of::run);
        write(metrics_of::stage);
        write(metrics_of::added);
        write(metrics_of::transfers);
        write(metrics_of::queue);
        write(metrics_of::process);
        if (format_ == metrics_format::openmetrics) text_ += "# EOF\n";
        return std::move(text_);
    }

  private:
    template <class T, std::size_t N>
    void write(const metric<T> (&metrics)[N]) {
        for (const metric<T>& m : metrics) {
            metric_samples samples(text_, m.family, format_);
            for (const one& run : runs_) {
                each(m, run.stats, [&](const T& of, const std::string& own) {
                    samples.begin(run.labels + (run.labels.empty() || own.empty() ? "" : ",") + own);
                    m.add(samples, of);
                });
            }
        }
    }

    // Names may be the same, or empty; positions tell them apart.
    static std::string own_labels(std::string_view what, const std::string& name, std::size_t position) {
        return label_text(what, name) + "," + label_text("position", std::to_string(position));
    }
    static std::string own_labels(const stage_stats& s, std::size_t position) {
        return own_labels("stage", s.name, position) + "," + label_text("kind", s.kind);
    }
    static void each(const metric<pipeline_stats>&, const pipeline_stats& p, auto add) { add(p, ""); }
    static void each(const metric<stage_stats>&, const pipeline_stats& p, auto add) {
        for (std::size_t i = 0; i < p.stages.size(); ++i) add(p.stages[i], own_labels(p.stages[i], i));
    }
    static void each(const metric<added_stats>&, const pipeline_stats& p, auto add) {
        for (std::size_t i = 0; i < p.stages.size(); ++i) {
            if (p.stages[i].added) add(*p.stages[i].added, own_labels(p.stages[i], i));
        }
    }
    static void each(const metric<transfer_stats>&, const pipeline_stats& p, auto add) {
        for (std::size_t i = 0; i < p.stages.size(); ++i) {
            if (p.stages[i].transfers) add(*p.stages[i].transfers, own_labels(p.stages[i], i));
        }
    }
    static void each(const metric<channel_stats>&, const pipeline_stats& p, auto add) {
        for (std::size_t i = 0; i < p.channels.size(); ++i)
            add(p.channels[i], own_labels("queue", p.channels[i].name, i));
    }
    static void each(const metric<process_stats>&, const pipeline_stats& p, auto add) {
        if (p.process) add(*p.process, "");
    }
};

}  // namespace detail

/// \param stats  from the start of a run: `run.stats()`. Counters count from there; laps are for
///               `metrics_file` and `metrics_callback`, which add them up.
/// \returns every figure as a metric, as include/weir/report/README.md lists them. Each family is one block
///          with its help and type, and in OpenMetrics its unit. Times are in seconds. A stage has the
///          labels `stage`, `position` (in `pipeline_stats::stages`, which tells stages of one name apart)
///          and `kind`, a queue `queue` and `position`. What is not known is left out.
///
/// Histograms have the same bounds always: the last nanosecond before each power of two from 2^10 ns (1.023
/// us, not 1.024) to 2^40 (18 min). There a bucket of `weir::histogram` ends, so each count is exact. If the
/// policy keeps no quantiles, all durations are in the bucket without a bound.
/// Errors: `std::invalid_argument` of a label whose name is none, is there twice or is one of the library's.
[[nodiscard]] inline std::string metrics_text(const pipeline_stats& stats,
                                              const metrics_options& options = {}) {
    detail::metrics_writer writer(options.format);
    writer.add(options.labels, stats);
    return std::move(writer).text();
}

/// The same of several runs in one text, as one answer to a scraper has to be.
/// Errors: `std::invalid_argument` also of two runs with the same labels.
[[nodiscard]] inline std::string metrics_text(const std::vector<labelled_run>& runs,
                                              metrics_format format = metrics_format::prometheus) {
    detail::metrics_writer writer(format);
    for (const labelled_run& r : runs) writer.add(r.labels, r.stats);
    return std::move(writer).text();
}

}  // namespace weir

#endif
