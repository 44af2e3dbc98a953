// expect-error: weir: explore needs a scenario: a function that takes a simulation::world&
// A scenario starts what is to be tested in the world that it is given.
// SPDX-License-Identifier: BSL-1.0
#include <weir/simulation.hpp>

int main() {
    weir::simulation::explore([] {});
}
