// weir mpi: a report that merges the statistics of all ranks, lap by lap
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_RANK_REPORT_HPP
#define WEIR_MPI_RANK_REPORT_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/stats.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/run_report.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <cstddef>      // for std::byte, std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::current_exception, std::exception_ptr, std::uncaught_exceptions
#include <functional>   // for std::function
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::nullopt, std::optional
#include <span>         // for std::as_bytes, std::span
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::exchange, std::move
#include <vector>       // for std::vector

namespace weir::mpi {

/// Merges the statistics of the runs of all ranks: one reduction for each lap (an interval of a run), and one
/// for the whole runs. Each rank gives its run a report; the pipelines may differ.
///
///     const auto ranks = std::make_shared<weir::mpi::rank_report>(co_await all.duplicate(), pool, show);
///     auto run = loader.start(pool, {.lap = 1s, .reports = {ranks}});
///     for (auto& batch : run) train(batch);
///     const weir::rank_stats stats = co_await ranks->total();
///
/// Lap number k of one rank is merged with lap number k of the others. A rank whose run has ended contributes
/// zeros until the runs of all ranks have ended. No run waits for the run of another rank: up to 64
/// laps of a rank wait to be merged. Laps that end while 64 laps wait are joined into one, which counts as
/// one lap.
///
/// Each report is of one run: the report of a second run is refused, with a warning, and the run goes on.
///
/// Errors:   after the failure of a rank, no more laps are merged; `total` throws the error. An exception of
///           `show` ends the calls of `show` on this rank; `total` throws the exception. An error of MPI in
///           the report is a failure of this rank, as the other ranks wait for its laps: see `world`.
/// Threads:  `show` and the reductions run on the executor's threads.
/// Lifetime: the destructor waits until each other rank has destroyed its report, or has ended its run. If an
///           exception destroys the report earlier, this rank has failed. The executor outlives the report.
/// Cost:     for each lap, a reduction of about `rank_layout::size()` numbers.
class rank_report final : public run_report {
  public:
    /// Called on each rank when a lap was merged, with the stragglers (slow ranks) of the last laps.
    using shown = std::function<void(const rank_stats& lap, const std::vector<straggler>& slow)>;

    /// \param all   a communicator for this report alone: `duplicate`.
    /// \param home  runs the reductions.
    /// \param show  see `shown`; empty: merged laps are not shown.
    rank_report(communicator all, executor& home, shown show = {})
        : all_(std::move(all)), loop_(all_.owned().loop), show_(std::move(show)), laps_(64), group_(home) {
        group_.spawn(merge());
    }
    ~rank_report() override {
        // The other ranks may wait for this rank elsewhere, and never end their runs: so no wait for them.
        if (std::uncaught_exceptions() > exceptions_ && all_.size() > 1 && !is_merged_)
            loop_->locked([this]() noexcept { loop_->abandon(); });
        laps_.close();
    }

    [[nodiscard]] std::string name() const override { return "the report of all ranks"; }
    void begins(const pipeline_stats& all) override {
        if (has_begun_.exchange(true)) {
            throw std::logic_error(
                "weir: this rank_report has had a run; make another one for each run, on all ranks");
        }
        add(all);
    }
    void lap(const pipeline_stats& one) override { add(one); }
    void ends(const pipeline_stats& rest, const pipeline_stats& all) override {
        total_ = all;
        add(rest);
        laps_.close();
    }

    /// \returns  the statistics of the whole runs, on each rank. To be awaited once.
    /// Suspends: until the runs of all ranks have ended. Resumes: on the coroutine's executor.
    /// Errors:   those of `communicator`, and of `show`.
    [[nodiscard]] task<rank_stats> total() {
        co_await group_.join();
        co_return merged_total_;
    }

  private:
    // Adds a lap for `merge`. If 64 laps wait already, the lap is joined with the next one.
    void add(const pipeline_stats& lap) {
        pipeline_stats one = kept_ ? weir::joined(*std::exchange(kept_, std::nullopt), lap) : lap;
        if (laps_.try_put(std::move(one)) != channel_status::success) kept_ = std::move(one);
    }

    // Collective. Exchanges the outlines of the pipelines of all ranks: texts that name their stages and
    // queues. Returns the layout of the merged numbers, which is equal on all ranks. `mine`: has the stages
    // and queues of this rank's pipeline.
    task<rank_layout> agree(pipeline_stats mine) {
        const std::string outline = rank_outline(mine);
        auto parts = co_await all_.gather_bytes(std::as_bytes(std::span(std::string_view(outline))), 0);
        // An outline is one line, so '\n' can separate the outlines.
        std::vector<std::byte> lines;
        for (const auto& each : parts) {
            lines.insert(lines.end(), each.begin(), each.end());
            lines.push_back(std::byte{'\n'});
        }
        lines = co_await all_.broadcast_bytes(std::move(lines), 0);
        std::vector<std::string> outlines;
        std::string_view rest(reinterpret_cast<const char*>(lines.data()), lines.size());
        for (; !rest.empty(); rest.remove_prefix(outlines.back().size() + 1))
            outlines.emplace_back(rest.substr(0, rest.find('\n')));
        co_return rank_layout(outlines);
    }

    // Collective: merges the laps of all ranks, one after the other, and then the whole runs.
    task<> merge() {
        try {
            co_await merge_all();
        } catch (...) {
            // The other ranks wait for the reductions of this rank.
            const std::string why = weir::detail::error_text(std::current_exception());
            if (all_.size() > 1) loop_->locked([&]() noexcept { loop_->abandon(why); });
            throw;
        }
        is_merged_ = true;
        if (failure_) std::rethrow_exception(failure_);
    }
    task<> merge_all() {
        std::optional<pipeline_stats> lap = co_await laps_.get();
        pipeline_stats names;
        if (lap) names = *std::move(lap);
        const rank_layout layout = co_await agree(std::move(names));
        straggler_watch watch;
        detail::leaked_on_failure<std::vector<std::uint64_t>> all_words(all_);
        std::vector<std::uint64_t>& words = *all_words;
        for (bool some = true; some;) {
            lap = co_await laps_.get();
            // No lap: the channel is closed, so no other thread uses `kept_` any more.
            if (!lap) lap = std::exchange(kept_, std::nullopt);
            words.assign(layout.size(), 0);
            if (lap) words = layout.pack(*lap, my_rank());
            words.push_back(lap ? 1 : 0);
            co_await all_.all_reduce(std::span(words), reduction::sum);
            some = words.back() != 0;
            words.pop_back();
            if (!some || !show_ || failure_) continue;
            try {
                const rank_stats merged = layout.unpack(words);
                show_(merged, watch.add(merged));
            } catch (...) {
                failure_ = std::current_exception();
            }
        }
        words = layout.pack(total_, my_rank());
        co_await all_.all_reduce(std::span(words), reduction::sum);
        merged_total_ = layout.unpack(words);
    }
    std::size_t my_rank() const { return static_cast<std::size_t>(all_.rank()); }

    const communicator all_;
    const std::shared_ptr<detail::reactor> loop_;
    const int exceptions_ = std::uncaught_exceptions();  // when the report was made: see the destructor
    weir::detail::standard_platform::atomic<bool> has_begun_{false};  // the report has had a run
    weir::detail::standard_platform::atomic<bool> is_merged_{false};  // no rank waits for this one
    const shown show_;
    weir::channel<pipeline_stats> laps_;  // laps that wait to be merged
    std::optional<pipeline_stats> kept_;  // a lap for which `laps_` had no room
    pipeline_stats total_;                // of this rank's whole run
    rank_stats merged_total_;             // the result of total()
    std::exception_ptr failure_;  // of `show`: thrown after the reductions, for which the other ranks wait
    task_group group_;            // of merge()
};

}  // namespace weir::mpi

#endif
