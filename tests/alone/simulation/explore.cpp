#include <weir/simulation/explore.hpp>

auto tosses() {
    return weir::simulation::explore([](weir::simulation::world& w) { w.check(w.draw(2) < 2, "0 or 1"); },
                                     {.schedules = 10, .strategy = weir::simulation::strategy::priorities});
}
