// lab driver: the order in which a plan is run
#ifndef LAB_DRIVER_SCHEDULE_HPP
#define LAB_DRIVER_SCHEDULE_HPP

#include "lab/design/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace lab {

struct schedule_options {
    std::size_t repeat = 1;   // number of blocks; each has each run of the plan once
    bool as_planned = false;  // keeps the order of the plan
    std::uint64_t seed = 1;
    std::size_t control_every = 20;  // number of runs between two A/A pairs; 0: no pairs
    configuration control;  // configuration of the A/A pairs, except for factors that are hard to change
};

// Blocks one after the other, each in random order. Runs of one build stay together as one whole plot, and
// builds are visited in random order, too. A/A pairs are inserted, A or B first at random. Equal options give
// equal schedules.
plan scheduled(const plan& what, const factor_file& file, const schedule_options& options);

}  // namespace lab

#endif
