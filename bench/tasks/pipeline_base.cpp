#include "pipeline_base.hpp"

#include <weir/report/csv.hpp>
#include <weir/report/trace.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace tasks {

pipeline_base::pipeline_base(const context& c)
    : context_(c), capacity_(static_cast<std::size_t>(c.asked.of("cfg_qcap"))),
      sink_capacity_(static_cast<std::size_t>(c.asked.of("cfg_sink"))),
      batch_(static_cast<std::size_t>(c.asked.of("cfg_batch"))),
      size_(static_cast<std::size_t>(c.asked.of("app_size"))),
      consumer_(c.asked.is("app_consumer", "thread")      ? consumer::a_thread
                : c.asked.is("app_consumer", "coroutine") ? consumer::a_coroutine
                                                          : consumer::a_stage),
      fused_(c.asked.is("cfg_fuse", "on")) {
    const std::string kind = c.asked.text("app_reports");
    if (kind == "off") return;
    report_path_ =
        (std::filesystem::temp_directory_path() / ("weir_tasks_" + std::to_string(getpid()) + "." + kind))
            .string();
    if (kind == "csv") report_ = std::make_shared<weir::csv_report>(report_path_);
    if (kind == "trace")
        report_ = std::make_shared<weir::trace_report>(report_path_, weir::trace_options{.every = 1});
}

pipeline_base::~pipeline_base() {
    std::error_code ignored;
    if (!report_path_.empty()) std::filesystem::remove(report_path_, ignored);
}

weir::stage_options pipeline_base::stage(std::uint64_t s) const {
    weir::stage_options all;
    all.name = std::string("stage ").append(std::to_string(s));
    all.concurrency = static_cast<std::size_t>(context_.asked.of("cfg_slots"));
    all.capacity = unit_capacity();
    if (context_.asked.is("cfg_order", "input")) all.output_order = weir::output_order::input;
    return all;
}

weir::run_options pipeline_base::options() const {
    weir::run_options all;
    all.later_stages_first = context_.asked.is("cfg_handoff", "later_first");
    if (report_ != nullptr) all.reports.push_back(report_);
    return all;
}

std::string pipeline_base::measured_level() const {
    const weir::channel_stats& first = last_.channels.front();
    if (first.put_waits.count() == 0) return "off";  // with histograms, operations without a wait count, too
    return first.put_waits.has_quantiles() ? "histograms" : "summed";
}

std::size_t pipeline_base::capacity_of(const std::string& channel) const {
    const auto found = std::ranges::find(last_.channels, channel, &weir::channel_stats::name);
    if (found == last_.channels.end()) throw std::logic_error("the run has no queue " + channel);
    return found->capacity;
}

void pipeline_base::tell(values& effective) const {
    integer stages = 0;
    std::size_t slots = 0;
    for (const weir::stage_stats& s : last_.stages) {
        if (s.kind != "pipe") continue;
        ++stages;
        slots = s.concurrency;
    }
    const bool is_fused = stages == 1 && (fused_ || context_.work.stages() > 1);
    effective.set("app_shape", "pipeline");
    effective.set("app_stages", is_fused ? static_cast<integer>(context_.work.stages()) : stages);
    effective.set("cfg_fuse", is_fused ? "on" : "off");
    effective.set("cfg_stats", measured_level());
    effective.set("cfg_slots", static_cast<integer>(slots));
    effective.set("cfg_batch", static_cast<integer>(std::max<std::size_t>(1, watch_.most())));
    effective.set("cfg_qcap", static_cast<integer>(capacity_of("src")));
    if (stages > 1 && capacity_of("stage 0") != unit_capacity()) {
        throw std::logic_error("the queues between the stages have not the capacity of the first");
    }
    effective.set("cfg_order", order_ == weir::output_order::input ? "input" : "completion");
    effective.set("cfg_handoff", options().later_stages_first ? "later_first" : "slot");
    const bool has_sink = last_.stages.back().kind == "sink";
    effective.set("cfg_sink",
                  has_sink ? static_cast<integer>(capacity_of("sink")) : context_.asked.of("cfg_sink"));
    effective.set("app_consumer", !has_sink                            ? "for_each"
                                  : consumer_ == consumer::a_coroutine ? "coroutine"
                                                                       : "thread");
    effective.set("app_wave", context_.asked.of("app_wave"));
    effective.set("app_size", static_cast<integer>(size_));
    std::error_code ignored;
    effective.set("app_reports", report_ != nullptr && std::filesystem::exists(report_path_, ignored)
                                     ? context_.asked.text("app_reports")
                                     : "off");
}

}  // namespace tasks
