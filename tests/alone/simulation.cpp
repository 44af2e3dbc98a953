#include <weir/simulation.hpp>

auto schedules() {
    return weir::simulation::explore([](weir::simulation::world&) {});
}
