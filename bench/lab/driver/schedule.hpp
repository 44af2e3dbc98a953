// lab driver: the order in which a plan is run
#ifndef LAB_DRIVER_SCHEDULE_HPP
#define LAB_DRIVER_SCHEDULE_HPP

#include "lab/design/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace lab {

struct schedule_options {
    std::size_t repeat = 1;   // each run of the plan so often, once a block
    bool as_planned = false;  // in the plan's order
    std::uint64_t seed = 1;
    std::size_t control_every = 20;  // so many runs between two A/A pairs; 0: none
    configuration control;           // what these run, but for what is hard to change
};

// Blocks one after the other, each in an order by lot; runs of one build stay together as one whole plot, and
// builds are visited in an order by lot, too. A/A pairs are put in between, A or B first by lot. The same options
// give the same.
plan scheduled(const plan& what, const factor_file& file, const schedule_options& options);

}  // namespace lab

#endif
