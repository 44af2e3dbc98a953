// weir measure, internal: measures the resources that the process uses during a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_PROCESS_METER_HPP
#define WEIR_MEASURE_PROCESS_METER_HPP

#include <weir/measure/process_stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/process_resources.hpp>

#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional

namespace weir::detail {

// `begin` is called before the object is shared; afterwards any thread may call the other members. If `stats`
// is never called, a run costs two system calls of 2 us, at its beginning and its end. Only a snapshot reads
// a file.
template <class Platform>
class basic_process_meter {
    struct instant {
        std::int64_t at;
        process_counts counts;
    };
    static instant read() noexcept { return {Platform::now(), Platform::count_process()}; }

  public:
    void begin() noexcept { begin_ = read(); }

    // Results don't change from now on, except for memory, which the next `stats` reads.
    void end() noexcept;

    // None if `begin` was not called, or if the system reports nothing.
    std::optional<process_stats> stats() noexcept;

  private:
    static constexpr std::uint64_t block = 512;  // bytes; independent of the device's block size

    static std::optional<std::uint64_t> count(std::int64_t from, std::int64_t to,
                                              std::uint64_t each = 1) noexcept;
    static std::optional<duration> time(std::int64_t from, std::int64_t to) noexcept;

    std::optional<instant> begin_;
    typename Platform::mutex lock_;  // guards the following members
    std::optional<instant> end_;
    std::optional<process_memory> memory_;
};

using process_meter = basic_process_meter<standard_platform>;

WEIR_COMPILED(class basic_process_meter<standard_platform>);

}  // namespace weir::detail

#include <weir/measure/process_meter.ipp>

#endif
