// The list of all scenarios, to which each file adds its own.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SCHEDULES_SCENARIOS_HPP
#define WEIR_TESTS_SCHEDULES_SCENARIOS_HPP

#include <weir/simulation/world.hpp>

#include <utility>
#include <vector>

namespace schedules {

using weir::simulation::world;

struct scenario {
    const char* name;
    void (*run)(world&);
    // So few decisions that those who differ from first come, first served in at most two are tried all.
    bool small = false;
};
struct group {
    const char* name;
    std::vector<scenario> scenarios;
};
inline std::vector<group>& groups() {
    static std::vector<group> all;
    return all;
}
// Each file has one such object.
struct registered {
    registered(const char* name, std::vector<scenario> scenarios) {
        groups().push_back({name, std::move(scenarios)});
    }
};

}  // namespace schedules

#endif
