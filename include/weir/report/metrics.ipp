// weir report, internal: bodies of the functions of report/metrics.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRICS_IPP
#define WEIR_REPORT_METRICS_IPP

#include <weir/report/metrics.hpp>

#include <weir/insight/verdict.hpp>
#include <weir/platform/config.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/metric_families.hpp>

#include <algorithm>    // for std::ranges::find, std::ranges::sort
#include <concepts>     // for std::same_as
#include <cstddef>      // for std::size_t
#include <iterator>     // for std::begin
#include <stdexcept>    // for std::invalid_argument
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

// Labels of the library, which a user's label must not be.
inline constexpr std::string_view metric_labels[] = {"stage",     "position", "kind", "queue",
                                                     "state",     "resource", "mode", "type",
                                                     "direction", "cause",    "le",   "quantile"};

inline void check_labels(const std::vector<metric_label>& labels) {
    std::vector<std::string_view> known(std::begin(metric_labels), std::end(metric_labels));
    for (const metric_label& l : labels) {
        constexpr std::string_view allowed =
            "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";  // begins with the digits
        if (l.name.empty() || l.name.starts_with("__") || allowed.find(l.name[0]) < 10 ||
            l.name.find_first_not_of(allowed) != std::string::npos) {
            throw std::invalid_argument("weir: '" + l.name +
                                        "' can't be the name of a label of metrics: it takes letters, digits "
                                        "and _, and begins with none of the digits and no __");
        }
        if (std::ranges::find(known, l.name) != known.end()) {
            throw std::invalid_argument(
                "weir: the label '" + l.name +
                "' is there twice, or is one of the library's own: take another name");
        }
        known.push_back(l.name);
    }
}

// \returns the labels sorted by name, so that equal sets of labels are equal texts. A label with an empty
//          value is left out, because Prometheus treats it as missing.
inline std::string labels_text(std::vector<metric_label> labels) {
    std::ranges::sort(labels, {}, &metric_label::name);
    std::string text;
    for (const metric_label& l : labels) {
        if (!l.value.empty()) (text += text.empty() ? "" : ",") += label_text(l.name, l.value);
    }
    return text;
}

// Writes the metrics of several runs as one text.
class metrics_writer {
    struct labelled {
        std::string labels;
        const pipeline_stats& stats;
        std::optional<verdict> why;
    };
    const metrics_format format_;
    std::vector<labelled> runs_;
    std::string text_;

  public:
    explicit metrics_writer(metrics_format format) noexcept : format_(format) {}

    // The statistics must outlive the writer.
    void add(const std::vector<metric_label>& of_run, const pipeline_stats& stats,
             std::optional<verdict> why) {
        check_labels(of_run);
        std::string labels = labels_text(of_run);
        if (std::ranges::find(runs_, labels, &labelled::labels) != runs_.end()) {
            throw std::invalid_argument("weir: two runs in one text of metrics have the same labels {" +
                                        labels + "}: give each one of its own, as {\"run\", \"training\"}");
        }
        runs_.push_back({std::move(labels), stats, std::move(why)});
    }

    // Both formats demand the samples of a family in one block, so the outer loop is over families, not runs.
    [[nodiscard]] std::string text() && {
        write(metrics_of::run);
        write(metrics_of::first_item);
        write(metrics_of::why);
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
            metric_samples samples(text_, m.family, format_ == metrics_format::openmetrics);
            for (const labelled& run : runs_) {
                each<T>(run, [&](const T& of, const std::string& own) {
                    samples.begin(run.labels + (run.labels.empty() || own.empty() ? "" : ",") + own);
                    m.add(samples, of);
                });
            }
        }
    }

    // \returns the labels of a stage or queue. Names may be empty or equal; the position tells objects apart.
    static std::string own_labels(std::string_view what, const std::string& name, std::size_t position) {
        return label_text(what, name) + "," + label_text("position", std::to_string(position));
    }
    // Calls `add(object, labels)` for each object of type `T` of the run: in its statistics, or its verdict.
    template <class T, class Add>
    static void each(const labelled& run, Add add) {
        const pipeline_stats& p = run.stats;
        if constexpr (std::same_as<T, verdict>) {
            if (!run.why) return;
            const std::string& stage = run.why->stage;
            add(*run.why, label_text("cause", name_of(run.why->cause)) +
                              (stage.empty() ? "" : "," + label_text("stage", stage)));
        } else if constexpr (std::same_as<T, pipeline_stats>) {
            add(p, "");
        } else if constexpr (std::same_as<T, first_item_stats>) {
            if (p.first_item) add(*p.first_item, "");
        } else if constexpr (std::same_as<T, process_stats>) {
            if (p.process) add(*p.process, "");
        } else if constexpr (std::same_as<T, channel_stats>) {
            for (std::size_t i = 0; i < p.channels.size(); ++i)
                add(p.channels[i], own_labels("queue", p.channels[i].name, i));
        } else {
            for (std::size_t i = 0; i < p.stages.size(); ++i) {
                const stage_stats& s = p.stages[i];
                const std::string labels = own_labels("stage", s.name, i) + "," + label_text("kind", s.kind);
                if constexpr (std::same_as<T, stage_stats>) add(s, labels);
                if constexpr (std::same_as<T, added_stats>) s.added ? add(*s.added, labels) : void();
                if constexpr (std::same_as<T, transfer_stats>)
                    s.transfers ? add(*s.transfers, labels) : void();
            }
        }
    }
};

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string metrics_content_type(metrics_format format) {
    return format == metrics_format::openmetrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

WEIR_INLINE std::string metrics_text(const pipeline_stats& stats, const metrics_options& options) {
    detail::metrics_writer writer(options.format);
    writer.add(options.labels, stats, detail::cheap_verdict(stats));
    return std::move(writer).text();
}

WEIR_INLINE std::string metrics_text(const std::vector<labelled_run>& runs, metrics_format format) {
    detail::metrics_writer writer(format);
    for (const labelled_run& r : runs) writer.add(r.labels, r.stats, detail::cheap_verdict(r.stats));
    return std::move(writer).text();
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE metrics_report::metrics_report(metrics_options options) : options_(std::move(options)) {
    check_labels(options_.labels);
}

WEIR_INLINE void metrics_report::begins(const pipeline_stats& all) {
    recent_ = recent_verdict();
    update(all, std::nullopt);
}

WEIR_INLINE void metrics_report::lap(const pipeline_stats& one) {
    update(joined(so_far_, one), recent_.add(one));
}

WEIR_INLINE void metrics_report::ends(const pipeline_stats&, const pipeline_stats& all) {
    update(all, brief_verdict(all));
}

WEIR_INLINE void metrics_report::update(pipeline_stats all, const std::optional<verdict>& why) {
    so_far_ = std::move(all);
    metrics_writer writer(options_.format);
    writer.add(options_.labels, so_far_, why);
    take(std::move(writer).text());
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE metrics_file::metrics_file(std::string path, metrics_options options)
    : metrics_report(std::move(options)), path_(std::move(path)) {
    if (path_.empty())
        throw std::invalid_argument("weir: a metrics_file needs the path of a file, as \"training.prom\"");
}

WEIR_INLINE metrics_callback::metrics_callback(std::function<void(const std::string& text)> take,
                                               metrics_options options)
    : metrics_report(std::move(options)), take_(std::move(take)) {
    if (!take_)
        throw std::invalid_argument("weir: a metrics_callback needs a function that takes a std::string");
}

}  // namespace weir

#endif
