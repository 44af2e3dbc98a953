// simulate: prints a result for people: what was measured, for how long, and the table.
// It prints the figures of a document beside it, if there are any.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SHOW_HPP
#define WEIR_EXAMPLES_SIMULATE_SHOW_HPP

#include "measurement.hpp"
#include "scenario.hpp"
#include "spec.hpp"
#include "table.hpp"

#include <weir/measure/unit_text.hpp>

#include <iostream>  // for std::cout
#include <string>    // for std::string

namespace simulate {

/// \param documented  the figures of a document; null: there are none
inline void show(const std::string& title, const pipeline_spec& spec, const measurement& m,
                 const scenario* documented) {
    using weir::units::time;
    std::cout << title << "\n  (";
    if (spec.snapshot_ns) {
        std::cout << "the first " << time(m.stats.elapsed);
    } else if (m.failed) {
        std::cout << "until '" << m.failed->stage << "' failed on item " << m.failed->item << ", "
                  << time(m.stats.elapsed);
    } else if (spec.items) {
        std::cout << "all " << *spec.items << " items, " << time(m.stats.elapsed);
    } else if (ends(spec)) {
        std::cout << "all of it, " << time(m.stats.elapsed);
    } else if (m.steady) {
        std::cout << time(m.stats.elapsed) << " in steady state, which repeats every " << time(m.period);
    } else {
        std::cout << time(m.stats.elapsed) << " after a warm-up";
    }
    std::cout << ")\n" << to_table(m.stats, documented) << std::endl;
}

}  // namespace simulate

#endif
