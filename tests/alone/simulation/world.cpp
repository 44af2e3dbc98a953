#include <weir/simulation/world.hpp>

void scenario(weir::simulation::world& w) {
    w.at_step(w.draw(3), [] {});
    w.always([] {});
    w.run();
    w.check(w.steps() < 100, "it ends");
}
