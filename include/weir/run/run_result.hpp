// weir run: what a run came to
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_RESULT_HPP
#define WEIR_RUN_RUN_RESULT_HPP

#include <weir/measure/stats.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir {

/// What `run::wait` and `run::drain` return, and `co_await run`.
struct run_result {
    /// How many items came to the end: were taken by that call, or acted on by the `for_each`.
    std::uint64_t items = 0;
    pipeline_stats stats;  ///< as `run::stats()` has them then
};

}  // namespace weir

#endif
