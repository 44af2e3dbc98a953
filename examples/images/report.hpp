// images: the summary at the end: what the consumer got, and which stage limited the rate.
// Each figure of the table is also a value.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_REPORT_HPP
#define WEIR_EXAMPLES_IMAGES_REPORT_HPP

#include "batch.hpp"

#include <weir/measure/stats.hpp>

#include <array>    // for std::array
#include <chrono>   // for std::chrono::duration
#include <cstddef>  // for std::size_t
#include <iomanip>  // for std::setprecision
#include <numeric>  // for std::accumulate
#include <ostream>  // for std::ostream
#include <span>     // for std::span
#include <string>   // for std::string

namespace images {

/// Stands for a network: it learns the mean colour of the photographs.
struct learned {
    std::size_t batches = 0;
    std::size_t images = 0;
    std::array<double, 3> sums{};  // of each image's mean red, green and blue

    /// \param values  of the images of a batch, each with `side` pixels on each side.
    void add(std::span<const float> values, std::size_t side) {
        ++batches;
        images += values.size() / values_of(side);
        const std::size_t plane = side * side;
        for (std::size_t i = 0; i < values.size() / plane; ++i) {
            const auto from = values.subspan(i * plane, plane);
            sums[i % 3] += std::accumulate(from.begin(), from.end(), 0.0) / static_cast<double>(plane);
        }
    }
};

/// A stage or the foreground, and the share of time in which it works.
struct worker {
    std::string name;
    double busy = 0;
};

/// \returns the bottleneck: the busiest one, for which all others wait. This requires that no stage has more
///          slots than its executor has threads.
[[nodiscard]] inline worker busiest(const weir::pipeline_stats& stats) {
    const auto share = [](weir::duration part, weir::duration whole) {
        return whole > weir::duration(0)
                   ? static_cast<double>(part.count()) / static_cast<double>(whole.count())
                   : 0;
    };
    // The foreground takes items from the last queue. It is busy while it does not wait for one.
    worker most{"the foreground", 1 - share(stats.channels.back().get_blocked, stats.elapsed)};
    for (const weir::stage_stats& stage : stats.stages) {
        const weir::slot_times times = stage.times();
        const double busy = share(times.busy(), times.total());
        if (busy > most.busy) most = {stage.name, busy};
    }
    return most;
}

inline void report(std::ostream& out, const learned& all, const weir::pipeline_stats& stats) {
    const double seconds = std::chrono::duration<double>(stats.elapsed).count();
    const auto number = static_cast<double>(all.images);
    const worker limit = busiest(stats);
    out << std::fixed << std::setprecision(1) << all.images << " images in " << all.batches << " batches, "
        << seconds << " s: " << number / seconds << " images/s\n";
    if (all.images > 0) {
        out << std::setprecision(3) << "mean colour: " << all.sums[0] / number << " red, "
            << all.sums[1] / number << " green, " << all.sums[2] / number << " blue\n";
    }
    out << std::setprecision(0) << "the bottleneck: " << limit.name << ", at work for " << 100 * limit.busy
        << " % of the time\n";
}

}  // namespace images

#endif
