// weir mpi: the options of a channel between ranks, and what its ranks agree on before they make it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_CHANNEL_PLAN_HPP
#define WEIR_MPI_CHANNEL_PLAN_HPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/lasting.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint32_t
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::mpi {

/// The options of a channel between ranks.
struct channel_options {
    /// The largest number of items of one producer that are on their way to one consumer, or wait there; at
    /// least 1.
    std::size_t capacity = 8;
    bool puts = true;            ///< this rank is a producer
    bool gets = true;            ///< this rank is a consumer
    std::string name = "ranks";  ///< for statistics and deadlock reports
};

namespace detail {

// What a rank does in a channel.
struct role {
    std::uint32_t puts = 0;
    std::uint32_t gets = 0;
    std::uint32_t capacity = 0;
};

// All ranks of a channel, and a communicator for it alone.
struct channel_plan {
    communicator of;
    std::vector<role> roles;
};

inline task<channel_plan> plan_channel(communicator of, const channel_options options) {
    const role mine{options.puts ? 1U : 0U, options.gets ? 1U : 0U,
                    static_cast<std::uint32_t>(options.capacity)};
    channel_plan plan;
    plan.of = co_await of.duplicate();
    lasting<role> given(of, mine);
    lasting<std::vector<role>> roles(of, std::vector<role>(static_cast<std::size_t>(of.size())));
    co_await of.all_gather(std::span<const role>(&*given, 1), std::span(*roles));
    plan.roles = *roles;
    role all;
    bool has_room = true;
    for (const role& r : plan.roles) {
        all.puts += r.puts;
        all.gets += r.gets;
        has_room = has_room && r.capacity != 0;
    }
    if (all.puts == 0 || all.gets == 0 || !has_room) {
        throw std::invalid_argument(
            "weir: a channel between ranks needs a rank that puts, a rank that gets, "
            "and a capacity of at least 1 on each");
    }
    co_return plan;
}

}  // namespace detail

}  // namespace weir::mpi

#endif
