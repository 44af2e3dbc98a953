// weir report: statistics of all ranks of a job: merged by one sum of vectors, and figures of each rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_STATS_HPP
#define WEIR_REPORT_RANK_STATS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/fields.hpp>
#include <weir/report/run_record.hpp>

#include <algorithm>    // for std::ranges::sort
#include <concepts>     // for std::integral, std::same_as
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <optional>     // for std::optional
#include <span>         // for std::span
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::pair
#include <vector>       // for std::vector

namespace weir {

/// The statistics of all ranks (the processes of a job), of a lap (a part of a run) or of the whole run.
/// Ranks may have different pipelines: stages of the same name and kind on several ranks are one stage, and
/// so are queues of the same name. If a rank has two of the same name, these remain two.
///
/// `json_text` and `html_text` take the statistics `s` as `run_record{.total = s.all, .ranks = s.ranks}`. The
/// functions that take a `rank_stats` throw `std::invalid_argument` if a rank has figures of other stages or
/// queues than `all`, as in a file that was edited.
struct rank_stats {
    /// All ranks together, with histograms of all invocations and waits. Counts, sizes, concurrency and times
    /// of slots (workers of a stage) are sums over the ranks. `elapsed` is the longest of any rank, so that
    /// rates are those of the job. A queue's `empty` (its time without an item) is the average over the ranks
    /// that have the queue, and so is its `readiness()` (the share of the other time) if the ranks' times are
    /// equal. `idle` is the shortest of any rank; `first_item` begins with the first item that any rank's
    /// program got. `added_stats::most_waiting` and `process_stats::peak_resident` are sums of the ranks'
    /// maxima: upper bounds, as the ranks reach their maxima at different times. `process_stats::processors`
    /// has no value. The slots of a stage are summed in one element of `per_slot`.
    pipeline_stats all;
    std::vector<rank_record> ranks;  ///< by rank

    [[nodiscard]] friend bool operator==(const rank_stats&, const rank_stats&) = default;
};

/// \returns the names, kinds and connections of a pipeline's stages and queues, as text for the `rank_layout`
///          of all ranks.
/// Errors: `std::bad_alloc`.
[[nodiscard]] std::string rank_outline(const pipeline_stats& of);

/// Turns the statistics of a rank into a vector of numbers. The sum of the vectors of all ranks, element by
/// element, contains the statistics of all ranks: one reduction with `MPI_SUM` is enough. Each rank makes the
/// same layout, once, from the outlines of all ranks:
///
///     const weir::rank_layout layout(outlines);                     // one rank_outline(run.stats()) each
///     auto words = layout.pack(run.stats(), rank);                  // on each rank
///     const weir::rank_stats of_all = layout.unpack(sum_of_words);  // on the rank that has the sum
///
/// Threads: several may call its functions at once. Cost: a vector has 10 KiB for each stage of the
/// job, and 20 KiB for each queue. Each stage and queue on each rank adds about 0.3 KiB.
class rank_layout {
  public:
    /// \param outlines  by rank: the texts of `rank_outline`.
    /// Errors: `std::runtime_error` if a text is no outline; `std::invalid_argument` without any outline.
    explicit rank_layout(std::span<const std::string> outlines);

    /// \returns the number of elements of a vector.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// \returns the number of ranks.
    [[nodiscard]] std::size_t num_ranks() const noexcept { return num_ranks_; }

    /// \returns the vector of a rank. A vector of zeros stands for a rank without statistics in this lap.
    /// Errors: `std::invalid_argument` if a stage or queue is in no outline, or if there is no such rank.
    [[nodiscard]] std::vector<std::uint64_t> pack(const pipeline_stats& of, std::size_t rank) const;

    /// \param sum  element by element, of the vectors of different ranks.
    /// \returns the statistics of these ranks.
    /// Errors: `std::invalid_argument` if other layouts packed the vectors, or if a rank is in the sum twice.
    [[nodiscard]] rank_stats unpack(std::span<const std::uint64_t> sum) const;

  private:
    // \returns the record of a rank that has not reported, with an element for each stage and queue.
    rank_record blank() const {
        rank_record none;
        none.stages.resize(outline_.stages.size());
        none.queues.resize(outline_.channels.size());
        return none;
    }

    pipeline_stats outline_;  // the stages and queues of all ranks, without figures
    std::size_t num_ranks_;
    std::size_t row_ = 0;  // elements of a vector that one rank fills with its `rank_record`
    std::size_t size_ = 0;
    std::uint64_t digest_ = 0;  // of the outlines; the first element of the row of a rank that has reported
};

/// \returns the statistics of all ranks, made from those of each rank. For a process that has the statistics
///          of all ranks, for instance from files.
/// Errors: `std::invalid_argument` if there is no rank.
[[nodiscard]] rank_stats merged(std::span<const pipeline_stats> ranks);

/// \returns the figures of one rank as `pipeline_stats`, for reports that take those. The histograms have
///          only counts, sums and maxima; the times of a stage's slots are summed in one slot. A stage that
///          the rank doesn't have has figures of 0.
/// Errors: `std::out_of_range` if there is no such rank.
[[nodiscard]] pipeline_stats of_rank(const rank_stats& stats, std::size_t rank);

/// \returns a sentence if ranks have different stages, or have not reported: `not all ranks have the same
///          stages: only rank 0 has 'train'; only ranks 1-3 have 'read'`; else an empty text.
[[nodiscard]] std::string differences_text(const rank_stats& stats);

/// How a figure differs over the ranks that have it.
struct rank_spread {
    double least = 0;               ///< the least value
    std::size_t least_rank = 0;     ///< the first rank that has the least value
    double median = 0;              ///< of two middle values, the lower one
    double greatest = 0;            ///< the greatest value
    std::size_t greatest_rank = 0;  ///< the last rank that has the greatest value
    std::size_t num_ranks = 0;      ///< ranks that have the figure
};

/// \param figure  `figure(rank_record)` returns a `std::optional<double>`; none: the rank has no such figure.
/// \returns the least, the median and the greatest value of the ranks that have reported; all 0 if none of
///          these has the figure.
/// Errors: `std::bad_alloc`, and those of `figure`.
template <class Figure>
[[nodiscard]] rank_spread spread(const rank_stats& stats, Figure&& figure) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t r = 0; r < stats.ranks.size(); ++r) {
        if (!stats.ranks[r].reported) continue;
        if (const std::optional<double> value = figure(stats.ranks[r])) all.emplace_back(*value, r);
    }
    if (all.empty()) return {};
    std::ranges::sort(all);
    return {.least = all.front().first,
            .least_rank = all.front().second,
            .median = all[(all.size() - 1) / 2].first,
            .greatest = all.back().first,
            .greatest_rank = all.back().second,
            .num_ranks = all.size()};
}

}  // namespace weir

namespace weir::detail {

// \returns the argument. Errors: `std::invalid_argument` if a rank has figures of other stages or queues.
const rank_stats& checked(const rank_stats& stats);

inline bool is_ascii(const std::string& text) noexcept {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
}
// An outline, which is JSON, has U+FFFD for bytes that are not valid UTF-8.
inline bool is_same_name(const std::string& a, const std::string& b) {
    return a == b || (!is_ascii(a) && !is_ascii(b) && valid_utf8(a) == valid_utf8(b));
}
inline bool is_same(const stage_stats& a, const stage_stats& b) {
    return a.kind == b.kind && is_same_name(a.name, b.name);
}
inline bool is_same(const channel_stats& a, const channel_stats& b) { return is_same_name(a.name, b.name); }

// \returns the index in `all` of the stage or queue `mine[i]`; the size of `all` if it is not there. Of
//          several that are equal by `is_same`, the n-th of `mine` is the n-th of `all`.
template <class T>
std::size_t index_of(const std::vector<T>& all, const std::vector<T>& mine, std::size_t i) {
    std::size_t before = 0;
    for (std::size_t j = 0; j < i; ++j) before += is_same(mine[j], mine[i]) ? 1U : 0U;
    std::size_t index = 0;
    for (; index < all.size(); ++index) {
        if (is_same(all[index], mine[i]) && before-- == 0) break;
    }
    return index;
}

// `index_of` for a stage or queue that has to be in `all`. Errors: `std::invalid_argument` if it is not.
template <class T>
std::size_t known_index_of(const std::vector<T>& all, const std::vector<T>& mine, std::size_t i) {
    const std::size_t index = index_of(all, mine, i);
    if (index != all.size()) return index;
    throw std::invalid_argument("weir: '" + mine[i].name +
                                "' of this rank is a stage or queue of no outline: make the rank_layout from "
                                "the rank_outline of each rank's run");
}

using word_list = std::vector<std::uint64_t>;

// Appends the members of an object in their order. The number of words depends only on the type and on the
// lengths of vectors. From a sum of the words of several objects, `get_words` reads the sums of the members;
// an optional member has a value if it has one in some object.
template <class T>
void put_words(word_list& out, const T& value) {
    if constexpr (std::integral<T>) {
        out.push_back(number_as<std::uint64_t>(value));
    } else if constexpr (std::same_as<T, duration>) {
        out.push_back(number_as<std::uint64_t>(value.count()));
    } else if constexpr (requires { value.has_value(); }) {
        out.push_back(value ? 1 : 0);
        static constexpr typename T::value_type none{};
        put_words(out, value ? *value : none);
    } else if constexpr (requires { value.begin(); }) {
        for (const auto& each : value) put_words(out, each);
    } else {
        each_field(value, [&out](const char*, const auto& member) { put_words(out, member); });
    }
}

// Reads the words of `put_words` into an object with vectors of the same lengths, and moves `from` behind
// these words.
template <class T>
void get_words(const std::uint64_t*& from, T& value) {
    if constexpr (std::same_as<T, bool>) {
        value = *from++ != 0;
    } else if constexpr (std::integral<T>) {
        value = number_as<T>(*from++);
    } else if constexpr (std::same_as<T, duration>) {
        value = duration(number_as<std::int64_t>(*from++));
    } else if constexpr (requires { value.has_value(); }) {
        const bool known = *from++ != 0;
        get_words(from, value.emplace());
        if (!known) value.reset();
    } else if constexpr (requires { value.begin(); }) {
        for (auto& each : value) get_words(from, each);
    } else {
        each_field(value, [&from](const char*, auto& member) { get_words(from, member); });
    }
}

// The words of a histogram: count, sum, and the counts of all buckets.
inline constexpr std::size_t words_of_histogram = 2 + log_linear::num_buckets;

inline void put_histogram(std::uint64_t* to, const histogram& h) {
    *to++ = h.count();
    *to++ = number_as<std::uint64_t>(h.sum().count());
    for (const histogram_bucket& b : h.buckets()) to[log_linear::bucket_of(b.least.count())] = b.count;
}

// Reads the words of `put_histogram`, and moves `from` behind these. `max` is not among the words, because a
// sum can't find a maximum.
inline histogram get_histogram(const std::uint64_t*& from, duration max) {
    const std::uint64_t count = *from++;
    const duration sum(number_as<std::int64_t>(*from++));
    std::vector<histogram_bucket> buckets;
    for (std::size_t i = 0; i < log_linear::num_buckets; ++i) {
        if (from[i] != 0) buckets.push_back({duration(log_linear::lower_bound(i)), duration(0), from[i]});
    }
    from += log_linear::num_buckets;
    return histogram::of(buckets, count, sum, max);
}

// Copies the members whose names are in both classes, and whose values can be assigned.
template <class From, class To>
void copy_named(const From& from, To& to) {
    each_field(to, [&from](std::string_view name, auto& member) {
        each_field(from, [&](std::string_view other, const auto& value) {
            if constexpr (std::assignable_from<decltype(member), decltype(value)>) {
                if (name == other) member = value;
            }
        });
    });
}

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/rank_stats.ipp>
#endif

#endif
