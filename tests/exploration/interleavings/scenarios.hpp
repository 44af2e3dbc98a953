// The list of all scenarios, to which each file adds its own.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_INTERLEAVINGS_SCENARIOS_HPP
#define WEIR_TESTS_INTERLEAVINGS_SCENARIOS_HPP

#include "explorer.hpp"

#include <utility>
#include <vector>

namespace interleavings {

struct scenario {
    const char* name;
    void (*run)();
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

}  // namespace interleavings

#endif
