// weir report, internal: statistics as vectors of words, whose sum over ranks is the statistics of all ranks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_WORDS_HPP
#define WEIR_REPORT_RANK_WORDS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/report/stats_fields.hpp>

#include <concepts>     // for std::integral, std::same_as
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir::detail {

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
