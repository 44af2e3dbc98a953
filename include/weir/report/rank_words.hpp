// weir report, internal: the stages that ranks have together, and statistics as words that ranks add up
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_WORDS_HPP
#define WEIR_REPORT_RANK_WORDS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/fields.hpp>

#include <algorithm>    // for std::ranges::find
#include <concepts>     // for std::integral, std::same_as
#include <cstddef>      // for std::ptrdiff_t, std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <stdexcept>    // for std::invalid_argument
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir::detail {

inline bool is_same(const stage_stats& a, const stage_stats& b) {
    return a.name == b.name && a.kind == b.kind;
}
inline bool is_same(const channel_stats& a, const channel_stats& b) { return a.name == b.name; }

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

// Copies names, kinds, what a stage awaits, and which queues it uses; no figures.
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

// Adds the stages and queues of a rank, a process of the job, to `all`, those of the ranks before. A stage
// that is new goes behind the stage that is before it on the rank; if it is the first there, to the end.
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

// Reads what `put_words` has written, into an object with vectors of the same lengths, and moves `from`
// behind it.
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

// Reads what `put_histogram` has written, and moves `from` behind it. `max` is not among the words, because a
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

// Copies the members that have the same name and type in both classes.
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

#endif
