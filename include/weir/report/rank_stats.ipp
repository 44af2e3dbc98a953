// weir report, internal: bodies of the functions of report/rank_stats.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_STATS_IPP
#define WEIR_REPORT_RANK_STATS_IPP

#include <weir/report/rank_stats.hpp>

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/json.hpp>

#include <algorithm>  // for std::ranges::copy, std::ranges::find, std::ranges::find_if
#include <cstddef>    // for std::ptrdiff_t
#include <utility>    // for std::move, std::pair

namespace weir::detail {

// Copies the name; of a stage also the kind, `awaits_others` (whether a source reads a channel) and which
// queues it uses. Copies no figures.
inline stage_stats outline_of(const stage_stats& s) {
    stage_stats outline;
    outline.name = s.name;
    outline.kind = s.kind;
    outline.awaits_others = s.awaits_others;
    outline.inputs = s.inputs;
    outline.outputs = s.outputs;
    return outline;
}
inline channel_stats outline_of(const channel_stats& c) {
    channel_stats outline;
    outline.name = c.name;
    return outline;
}

// Adds the stages and queues of a rank (a process of the job) to `all`, which has those of earlier ranks. A
// new stage goes behind the stage that precedes it on this rank; the rank's first stage, if new, to the end.
inline void add_outline(pipeline_stats& all, const pipeline_stats& mine) {
    std::vector<std::size_t> queues;
    for (std::size_t i = 0; i < mine.channels.size(); ++i) {
        const std::size_t index = index_of(all.channels, mine.channels, i);
        if (index == all.channels.size()) all.channels.push_back(outline_of(mine.channels[i]));
        queues.push_back(index);
    }
    const auto add_queues = [&queues](std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
        for (const std::size_t q : from) {
            if (q < queues.size() && std::ranges::find(to, queues[q]) == to.end()) to.push_back(queues[q]);
        }
    };
    std::size_t next = all.stages.size();
    for (std::size_t i = 0; i < mine.stages.size(); ++i) {
        std::size_t index = index_of(all.stages, mine.stages, i);
        if (index == all.stages.size()) {
            index = next;
            stage_stats added = outline_of(mine.stages[i]);
            added.inputs.clear();
            added.outputs.clear();
            all.stages.insert(all.stages.begin() + number_as<std::ptrdiff_t>(index), added);
        }
        add_queues(all.stages[index].inputs, mine.stages[i].inputs);
        add_queues(all.stages[index].outputs, mine.stages[i].outputs);
        next = index + 1;
    }
}

inline stage_on_rank figures_of(const stage_stats& s) {
    stage_on_rank figures;
    copy_named(s, figures);
    figures.exists = true;
    figures.times = s.times();
    figures.longest = (s.task_times.max)();
    return figures;
}

inline queue_on_rank figures_of(const channel_stats& c) {
    queue_on_rank figures;
    copy_named(c, figures);
    figures.exists = true;
    figures.longest_put = (c.put_waits.max)();
    figures.longest_get = (c.get_waits.max)();
    return figures;
}

WEIR_INLINE const rank_stats& checked(const rank_stats& stats) {
    for (std::size_t r = 0; r < stats.ranks.size(); ++r) {
        if (is_of_job(stats.ranks[r], stats.all)) continue;
        throw std::invalid_argument("weir: rank " + std::to_string(r) +
                                    " has figures of other stages or queues than those of all ranks; take "
                                    "both from one rank_stats or one file");
    }
    return stats;
}

// \returns statistics with these figures, without histograms. `outline`: the stages and queues of all ranks.
inline pipeline_stats pipeline_of(const pipeline_stats& outline, const rank_record& figures) {
    pipeline_stats p = outline;
    copy_named(figures, p);
    for (std::size_t i = 0; i < p.stages.size(); ++i) {
        copy_named(figures.stages[i], p.stages[i]);
        p.stages[i].per_slot = {figures.stages[i].times};
    }
    for (std::size_t i = 0; i < p.channels.size(); ++i) copy_named(figures.queues[i], p.channels[i]);
    return p;
}

// Sets the members of `sum` for which a sum over ranks means nothing: maxima, minima and averages. Maxima of
// sizes remain sums: so `added_stats::most_waiting` is never below `num_waiting`, of which it is the maximum.
inline void correct_sum(rank_record& sum, const std::vector<rank_record>& ranks) {
    sum.elapsed = duration(0);
    sum.idle = (duration::max)();
    for (stage_on_rank& s : sum.stages) s.elapsed = s.longest = duration(0);
    std::vector<std::int64_t> having(sum.queues.size());
    for (queue_on_rank& q : sum.queues) q.elapsed = q.longest_put = q.longest_get = duration(0);
    if (sum.first_item) sum.first_item->after = (duration::max)(), sum.first_item->since = duration(0);
    if (sum.process) sum.process->elapsed = duration(0), sum.process->processors.reset();
    for (const rank_record& r : ranks) {
        if (!r.reported) continue;
        sum.elapsed = larger(sum.elapsed, r.elapsed);
        sum.idle = smaller(sum.idle, r.idle);
        for (std::size_t i = 0; i < sum.stages.size(); ++i) {
            sum.stages[i].elapsed = larger(sum.stages[i].elapsed, r.stages[i].elapsed);
            sum.stages[i].longest = larger(sum.stages[i].longest, r.stages[i].longest);
        }
        for (std::size_t i = 0; i < sum.queues.size(); ++i) {
            queue_on_rank& q = sum.queues[i];
            q.elapsed = larger(q.elapsed, r.queues[i].elapsed);
            q.longest_put = larger(q.longest_put, r.queues[i].longest_put);
            q.longest_get = larger(q.longest_get, r.queues[i].longest_get);
            having[i] += r.queues[i].exists ? 1 : 0;
        }
        if (r.first_item) {
            sum.first_item->after = smaller(sum.first_item->after, r.first_item->after);
            sum.first_item->since = larger(sum.first_item->since, r.first_item->since);
        }
        if (r.process) sum.process->elapsed = larger(sum.process->elapsed, r.process->elapsed);
    }
    if (!sum.reported) sum.idle = duration(0);
    for (std::size_t i = 0; i < having.size(); ++i) sum.queues[i].empty /= larger<std::int64_t>(having[i], 1);
}

// \returns `rank 2`, or `ranks 0, 2-5`.
inline std::string ranks_text(const std::vector<std::size_t>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const std::size_t first = i;
        while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
        text += (first == 0 ? "" : ", ") + std::to_string(ranks[first]);
        if (i != first) text += "-" + std::to_string(ranks[i]);
    }
    return text;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string rank_outline(const pipeline_stats& of) {
    pipeline_stats outline;
    for (const stage_stats& s : of.stages) outline.stages.push_back(detail::outline_of(s));
    for (const channel_stats& c : of.channels) outline.channels.push_back(detail::outline_of(c));
    std::string text;
    detail::append_json(text, outline);
    return text;
}

WEIR_INLINE rank_layout::rank_layout(std::span<const std::string> outlines) : num_ranks_(outlines.size()) {
    detail::refuse_if(outlines.empty(), "weir: a layout of statistics needs one outline for each rank");
    detail::digest names;
    for (const std::string& each : outlines) {
        pipeline_stats one;
        detail::read_json(detail::json_reader(each).whole(), one);
        detail::add_outline(outline_, one);
        for (const char c : each) names.add(static_cast<unsigned char>(c));
    }
    digest_ = std::uint64_t{1} << 32 | names.value();
    detail::word_list row{digest_};
    detail::put_words(row, blank());
    row_ = row.size();
    size_ = num_ranks_ * row_ +
            (outline_.stages.size() + 2 * outline_.channels.size()) * detail::words_of_histogram;
}

WEIR_INLINE std::vector<std::uint64_t> rank_layout::pack(const pipeline_stats& of, std::size_t rank) const {
    detail::refuse_if(rank >= num_ranks_, "weir: this rank is none of those that the layout was made for");
    rank_record figures = blank();
    detail::copy_named(of, figures);
    figures.reported = true;
    detail::word_list row{digest_};
    detail::word_list all(size_);
    std::uint64_t* histograms = all.data() + num_ranks_ * row_;
    const auto histogram_at = [&](std::size_t i) { return histograms + i * detail::words_of_histogram; };
    for (std::size_t i = 0; i < of.stages.size(); ++i) {
        const std::size_t index = detail::known_index_of(outline_.stages, of.stages, i);
        figures.stages[index] = detail::figures_of(of.stages[i]);
        detail::put_histogram(histogram_at(index), of.stages[i].task_times);
    }
    histograms = histogram_at(outline_.stages.size());
    for (std::size_t i = 0; i < of.channels.size(); ++i) {
        const std::size_t index = detail::known_index_of(outline_.channels, of.channels, i);
        figures.queues[index] = detail::figures_of(of.channels[i]);
        detail::put_histogram(histogram_at(2 * index), of.channels[i].put_waits);
        detail::put_histogram(histogram_at(2 * index + 1), of.channels[i].get_waits);
    }
    detail::put_words(row, figures);
    std::ranges::copy(row, all.begin() + detail::number_as<std::ptrdiff_t>(rank * row_));
    return all;
}

WEIR_INLINE rank_stats rank_layout::unpack(std::span<const std::uint64_t> sum) const {
    rank_stats stats;
    detail::word_list row(row_);
    bool fits = sum.size() == size_;
    for (std::size_t r = 0; fits && r < num_ranks_; ++r) {
        const std::uint64_t* from = sum.data() + r * row_;
        for (std::size_t i = 0; i < row_; ++i) row[i] += from[i];
        fits = *from == digest_ || *from == 0;
        detail::get_words(++from, stats.ranks.emplace_back(blank()));
    }
    detail::refuse_if(!fits,
                      "weir: these statistics of ranks were not packed by this layout, or one rank is in "
                      "them twice: all ranks make the layout from the same outlines, in their order");
    rank_record total = blank();
    const std::uint64_t* from = row.data() + 1;
    detail::get_words(from, total);
    detail::correct_sum(total, stats.ranks);
    stats.all = detail::pipeline_of(outline_, total);
    from = sum.data() + num_ranks_ * row_;
    for (std::size_t i = 0; i < stats.all.stages.size(); ++i)
        stats.all.stages[i].task_times = detail::get_histogram(from, total.stages[i].longest);
    for (std::size_t i = 0; i < stats.all.channels.size(); ++i) {
        stats.all.channels[i].put_waits = detail::get_histogram(from, total.queues[i].longest_put);
        stats.all.channels[i].get_waits = detail::get_histogram(from, total.queues[i].longest_get);
    }
    return stats;
}

WEIR_INLINE rank_stats merged(std::span<const pipeline_stats> ranks) {
    std::vector<std::string> outlines;
    for (const pipeline_stats& each : ranks) outlines.push_back(weir::rank_outline(each));
    const rank_layout layout(outlines);
    detail::word_list sum(layout.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        std::uint64_t* to = sum.data();
        for (const std::uint64_t each : layout.pack(ranks[r], r)) *to++ += each;
    }
    return layout.unpack(sum);
}

WEIR_INLINE pipeline_stats of_rank(const rank_stats& stats, std::size_t rank) {
    const rank_record& figures = detail::checked(stats).ranks.at(rank);
    pipeline_stats p = detail::pipeline_of(stats.all, figures);
    for (std::size_t i = 0; i < p.stages.size(); ++i) {
        stage_stats& s = p.stages[i];
        s.task_times = histogram::without_quantiles(detail::since(s.num_failures, s.num_tasks), s.task_time,
                                                    figures.stages[i].longest);
    }
    for (std::size_t i = 0; i < p.channels.size(); ++i) {
        channel_stats& c = p.channels[i];
        c.put_waits = histogram::without_quantiles(c.num_put, c.put_wait, figures.queues[i].longest_put);
        c.get_waits = histogram::without_quantiles(c.num_get, c.get_wait, figures.queues[i].longest_get);
    }
    return p;
}

WEIR_INLINE std::string differences_text(const rank_stats& stats) {
    std::vector<std::size_t> reported;
    for (std::size_t r = 0; r < detail::checked(stats).ranks.size(); ++r)
        if (stats.ranks[r].reported) reported.push_back(r);
    // Sets of ranks, and the names of the stages that only the ranks of the set have.
    std::vector<std::pair<std::vector<std::size_t>, std::string>> sets;
    for (std::size_t i = 0; i < stats.all.stages.size(); ++i) {
        std::vector<std::size_t> having;
        for (const std::size_t r : reported) {
            if (stats.ranks[r].stages[i].exists) having.push_back(r);
        }
        if (having == reported) continue;
        const auto known =
            std::ranges::find_if(sets, [&having](const auto& one) { return one.first == having; });
        const std::string name = "'" + stats.all.stages[i].name + "'";
        if (known != sets.end()) {
            known->second += ", " + name;
        } else {
            sets.emplace_back(std::move(having), name);
        }
    }
    std::string text;
    for (const auto& [ranks, names] : sets) {
        text += text.empty() ? "not all ranks have the same stages: only " : "; only ";
        text += detail::ranks_text(ranks) + (ranks.size() == 1 ? " has " : " have ") + names;
    }
    if (reported.size() == stats.ranks.size()) return text;
    return (text.empty() ? "" : text + "; ") + std::to_string(stats.ranks.size() - reported.size()) + " of " +
           std::to_string(stats.ranks.size()) + " ranks have reported nothing";
}

}  // namespace weir

#endif
