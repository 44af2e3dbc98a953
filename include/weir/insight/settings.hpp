// weir insight: the settings of a pipeline as plain values, which predictions change
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SETTINGS_HPP
#define WEIR_INSIGHT_SETTINGS_HPP

#include <weir/measure/stats.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir {

/// What a stage does with items, as far as a prediction needs it.
enum class stage_role {
    source,        ///< makes items; the first stage
    function,      ///< calls a function for each item: `pipe`, `filter`, `flat_map`, `for_each`, ...
    aggregate,     ///< makes a batch of `batch_size` items
    disaggregate,  ///< gives the elements of each batch one by one
    sink,          ///< moves each item into the queue of the consumer
    consumer,      ///< takes the items out of the pipeline; the last stage
};

/// The settings of one stage that a prediction can change.
struct stage_settings {
    std::string name;                        ///< see `stage_options::name`; `consumer` for the consumer
    stage_role role = stage_role::function;  ///< what the stage does
    std::size_t concurrency = 1;             ///< the number of slots (workers), at least 1
    std::size_t capacity = 2;                ///< of the queue behind the stage, in items; at least 1
    /// The number of items of average size that fit into the queue's limit of bytes; 0 if it has no such
    /// limit.
    std::size_t byte_room = 0;
    /// See `stage_options::output_order`.
    weir::output_order output_order = weir::output_order::completion;
    std::size_t batch_size = 1;  ///< the number of items in a batch, at least 1; for `stage_role::aggregate`
    bool drop_last = false;      ///< whether an incomplete last batch is dropped; for `stage_role::aggregate`

    /// The times of the stage are multiplied by this factor: 0.5 halves them, and 0 removes them.
    double time_factor = 1;

    /// The index in `pipeline_settings::pools` of the thread pool that calls the function.
    std::size_t pool = 0;

    [[nodiscard]] friend bool operator==(const stage_settings&, const stage_settings&) = default;
};

/// The settings of a pipeline without branches.
struct pipeline_settings {
    /// The source, the other stages, the sink, and the consumer, in this order.
    std::vector<stage_settings> stages;

    /// The number of threads of each thread pool that calls functions; 0 for as many as there are slots.
    std::vector<std::size_t> pools = {0};

    /// The number of items that the source makes; none if the source does not end.
    std::optional<std::uint64_t> num_items = std::nullopt;

    /// \returns the stage with this name, to be changed.
    /// Errors: `std::invalid_argument` if no stage, or more than one, has the name; the message lists all
    ///         names. Lifetime: as the element of `stages`.
    [[nodiscard]] stage_settings& stage(std::string_view name);
    /// The same as `stage` above, to be read.
    [[nodiscard]] const stage_settings& stage(std::string_view name) const;

    [[nodiscard]] friend bool operator==(const pipeline_settings&, const pipeline_settings&) = default;
};

namespace detail {

// The most slots of a stage, as a simulation takes memory and time for each slot.
inline constexpr std::size_t most_slots = 100'000;

// Throws std::invalid_argument if no pipeline can have these settings. The message names the stage.
void check_settings(const pipeline_settings& settings);

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/settings.ipp>
#endif

#endif
