// simulate: the request of a stage for a worker: when, and for which item.
// Requests are ordered by who gets a worker first.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_WORKER_REQUEST_HPP
#define WEIR_EXAMPLES_SIMULATE_WORKER_REQUEST_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t, SIZE_MAX
#include <tuple>    // for std::tuple

namespace simulate {

namespace detail {

struct worker_request {
    worker_request(weir::executor& clock, std::size_t r, std::uint64_t k)
        : asked(clock.now()), rank(r), item(k), given(1, clock, "a worker") {}
    [[nodiscard]] auto order() const { return std::tuple(asked, SIZE_MAX - rank, item); }
    weir::time_point asked;
    std::size_t rank;
    std::uint64_t item;
    weir::channel<char> given;
};

}  // namespace detail

}  // namespace simulate

#endif
