// weir measure: a sample of single invocations of a stage's function, with the times of each
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TASK_SAMPLE_HPP
#define WEIR_MEASURE_TASK_SAMPLE_HPP

#include <weir/measure/clock.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint32_t, std::uint64_t
#include <optional>  // for std::optional
#include <vector>    // for std::vector

namespace weir {

/// One invocation of a stage's function; or one batch of an `aggregate`; or the time of the consumer (which
/// takes the results of a run) from the return of a call that takes an item to the next call.
struct task_sample {
    duration at{};              ///< from the start of the run or lap to the end, when all results were put
    duration run{};             ///< the time in which the function had a thread; the time of the consumer
    duration await{};           ///< the time in which the function was itself suspended
    duration runnable{};        ///< the time in which the function could have run, and no thread was free
    std::uint32_t taken = 1;    ///< items in the batch of an `aggregate`; otherwise 1
    std::uint32_t results = 1;  ///< how many items the invocation gave; 0: the item was dropped, or failed
    bool failed = false;        ///< whether the invocation ended with an exception

    [[nodiscard]] friend bool operator==(const task_sample&, const task_sample&) = default;
};

/// A sample of the invocations of a stage, in the order of their ends: see `run_options::recording`. All
/// invocations have the same chance to be in the sample, and so the sample represents the whole run.
struct task_samples {
    std::uint64_t one_in = 1;  ///< number of successive invocations of which one is kept, chosen at random
    std::vector<task_sample> tasks = {};  ///< the sample; if `one_in` is 1, all invocations

    [[nodiscard]] friend bool operator==(const task_samples&, const task_samples&) = default;
};

namespace detail {

// Keeps one of each `one_in / all.one_in` successive elements, chosen at random. `one_in`: a power of two.
// Does nothing if `all.one_in` is as great or greater.
void thin(task_samples& all, std::uint64_t one_in);
// The part of a sample for a lap (the difference of two snapshots). `begin`: the time from the start of the
// run to the lap. `before`: the sample at that time; empty: there was none.
task_samples samples_of_lap(const task_samples& all, const std::optional<task_samples>& before,
                            duration begin);
// Adds a sample of other invocations. First removes elements of the sample with the smaller `one_in`, until
// both are equal.
void add_samples(task_samples& all, task_samples more);
// Sorts the elements by the ends of the invocations, and removes elements until at most `most` are left.
void sort_and_limit(task_samples& all, std::size_t most);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/measure/task_sample.ipp>
#endif

#endif
