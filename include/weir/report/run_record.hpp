// weir report: a run as a value: pipeline, machine, build, failures, statistics; and how laps are joined
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_HPP
#define WEIR_REPORT_RUN_RECORD_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/process_stats.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/task_sample.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/rank_record.hpp>
#include <weir/report/structure.hpp>
#include <weir/version.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// The machine on which a run took place. A value that the system does not tell is empty, or 0.
struct machine_info {
    std::string host;          ///< its name
    std::string system;        ///< `Linux 6.1.0 x86_64`
    std::string processor;     ///< its model
    unsigned processors = 0;   ///< number of processors that the process may use
    std::uint64_t memory = 0;  ///< bytes

    [[nodiscard]] friend bool operator==(const machine_info&, const machine_info&) = default;
};

/// How the program was compiled: the source file that calls `this_build`.
struct build_info {
    std::string weir;         ///< the version of this library
    std::string compiler;     ///< the compiler and its version
    std::string library;      ///< the standard library and its version
    bool optimised = false;   ///< compiled with optimisation
    bool assertions = false;  ///< compiled without NDEBUG

    [[nodiscard]] friend bool operator==(const build_info&, const build_info&) = default;
};

/// A setting of a run, given by the program: a number of threads, the name of a dataset.
struct run_setting {
    std::string name;   ///< what is set
    std::string value;  ///< its value, as text

    [[nodiscard]] friend bool operator==(const run_setting&, const run_setting&) = default;
};

/// An item that failed.
struct recorded_failure {
    std::string stage;       ///< the name of the stage
    std::uint64_t item = 0;  ///< the item's number in that stage, from 0
    std::string message;     ///< `failure::message()`
    std::string where;       ///< where the stage was composed: `loader.cpp:42`; empty: not known
    std::size_t lap = 0;     ///< the number of the lap, from 0

    [[nodiscard]] friend bool operator==(const recorded_failure&, const recorded_failure&) = default;
};

/// Everything known of a run: the input of `html_text` and `json_text`, and the output of `run_recorder`.
struct run_record {
    std::string name;                        ///< given by the program
    std::string started;                     ///< UTC by the system's clock: `2026-11-25T02:54:16Z`
    bool ended = false;                      ///< false: the run still went on, or the process was killed
    machine_info machine;                    ///< where it ran
    build_info build;                        ///< how the program was compiled
    std::vector<run_setting> settings;       ///< given by the program
    pipeline_description description;        ///< without stages if the program gave none
    pipeline_stats total;                    ///< of the whole run, or of the laps that are known
    std::uint64_t num_failures = 0;          ///< the number of all items that failed
    std::vector<recorded_failure> failures;  ///< the first failures
    std::vector<pipeline_stats> laps;        ///< in order; the last lap may be shorter
    /// The figures of each rank, if `total` and `laps` are of several processes: see `rank_stats`.
    std::vector<rank_record> ranks = {};

    [[nodiscard]] friend bool operator==(const run_record&, const run_record&) = default;
};

/// \returns what the system tells about this machine.
/// Errors: `std::bad_alloc`. Cost: reads two files of the system.
[[nodiscard]] machine_info this_machine();

/// \returns how the source file that calls this function was compiled. Errors: `std::bad_alloc`.
[[nodiscard]] build_info this_build();

namespace detail {

// \returns the record of a run that has not begun.
[[nodiscard]] run_record new_record(std::string name, pipeline_description made_of,
                                    std::vector<run_setting> settings);

template <class T>
void add_up(T& sum, const T& more) {
    sum += more;
}
inline void add_up(duration& a, const duration& b) { a = detail::sum(a, b); }
// Adds the counts since the first item came to the consumer; `sum.after`, when that item came, remains.
void add_up(first_item_stats& sum, const first_item_stats& more);
// The sum has no value if one of the summands has none.
template <class T>
void add_up(std::optional<T>& sum, const std::optional<T>& more) {
    if (sum && more) {
        add_up(*sum, *more);
    } else {
        sum.reset();
    }
}

// Joins samples of invocations of two laps into `later`. `elapsed`: the length of the earlier lap.
void join_samples(const std::optional<task_samples>& earlier, std::optional<task_samples>& later,
                  duration elapsed);

// Whether no time passed and nothing was done.
bool is_nothing(const pipeline_stats& lap) noexcept;

}  // namespace detail

/// \returns two laps of one run as one lap; the second begins where the first ends. For statistics `a`, `b`
/// and `c` of three instants, `joined(b - a, c - b)` is `c - a`, except that maxima are the greater ones of
/// the two laps, and that samples may be of other invocations. Names, sizes and other values of an instant
/// are taken from the later lap. Stages and channels are matched by position.
/// Errors: `std::bad_alloc`.
[[nodiscard]] channel_stats joined(const channel_stats& earlier, channel_stats later);

/// \returns two laps of a stage as one. Errors: `std::bad_alloc`.
[[nodiscard]] stage_stats joined(const stage_stats& earlier, stage_stats later);

/// \returns two laps of the process as one. Errors: `std::bad_alloc`.
[[nodiscard]] process_stats joined(const process_stats& earlier, process_stats later);

/// \returns two laps of a pipeline as one. Errors: `std::bad_alloc`.
[[nodiscard]] pipeline_stats joined(const pipeline_stats& earlier, pipeline_stats later);

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/run_record.ipp>
#endif

#endif
