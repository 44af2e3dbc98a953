// weir report: a whole run as a value: what it was made of, where it ran, what was measured, lap by lap
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_RECORD_HPP
#define WEIR_REPORT_RUN_RECORD_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/processors.hpp>
#include <weir/platform/system_info.hpp>
#include <weir/report/structure.hpp>
#include <weir/version.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string, std::to_string
#include <vector>   // for std::vector

namespace weir {

/// The machine on which a run took place. What the system doesn't say is empty, or 0.
struct machine_info {
    std::string host;          ///< its name
    std::string system;        ///< `Linux 6.1.0 x86_64`
    std::string processor;     ///< its model
    unsigned processors = 0;   ///< that the process might use
    std::uint64_t memory = 0;  ///< bytes

    [[nodiscard]] friend bool operator==(const machine_info&, const machine_info&) = default;
};

/// What the program was compiled with: the file that asked.
struct build_info {
    std::string weir;         ///< the version of this library
    std::string compiler;     ///< and its version
    std::string library;      ///< the standard library, and its version
    bool optimised = false;   ///< whether the compiler was told to
    bool assertions = false;  ///< without NDEBUG

    [[nodiscard]] friend bool operator==(const build_info&, const build_info&) = default;
};

/// Something about a run that the program says: a number of threads, the name of a dataset.
struct run_setting {
    std::string name;   ///< of it
    std::string value;  ///< as text

    [[nodiscard]] friend bool operator==(const run_setting&, const run_setting&) = default;
};

/// An item that failed.
struct recorded_failure {
    std::string stage;       ///< its name
    std::uint64_t item = 0;  ///< the item's number there, from 0
    std::string message;     ///< `failure::message()`
    std::string where;       ///< where the stage was composed: `loader.cpp:42`; empty: not known
    std::size_t lap = 0;     ///< during which of the laps, from 0

    [[nodiscard]] friend bool operator==(const recorded_failure&, const recorded_failure&) = default;
};

/// A run: what every report is made of afterwards, and what is kept of it (`weir/report/json.hpp`).
struct run_record {
    std::string name;                        ///< as the program calls it
    std::string started;                     ///< when: `2026-11-25T02:54:16Z`; on virtual time, too
    bool ended = false;                      ///< false: it still went on, or the process was killed
    machine_info machine;                    ///< where
    build_info build;                        ///< by what
    std::vector<run_setting> settings;       ///< as the program gave them
    pipeline_description description;        ///< of what; without stages if the program didn't say
    pipeline_stats total;                    ///< of the whole run, or of the laps that are known
    std::uint64_t num_failures = 0;          ///< all of them
    std::vector<recorded_failure> failures;  ///< the first of them
    std::vector<pipeline_stats> laps;        ///< one behind the other; the last one may be shorter

    [[nodiscard]] friend bool operator==(const run_record&, const run_record&) = default;
};

/// \returns what is known of this machine. Errors: `std::bad_alloc`. Cost: reads two files of the system's.
[[nodiscard]] inline machine_info this_machine() {
    return {detail::name_of_host(), detail::name_of_system(),
            detail::line_of_system("/proc/cpuinfo", "model name"), detail::available_processors(),
            detail::memory_of_machine()};
}

/// \returns what compiles this call. Errors: `std::bad_alloc`.
[[nodiscard]] inline build_info this_build() {
    return {std::to_string(WEIR_VERSION_MAJOR) + "." + std::to_string(WEIR_VERSION_MINOR) + "." +
                std::to_string(WEIR_VERSION_PATCH),
            detail::name_of_compiler(), detail::name_of_library(), detail::is_optimised,
            detail::has_assertions};
}

}  // namespace weir

#endif
