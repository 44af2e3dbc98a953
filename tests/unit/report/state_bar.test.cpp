#include <weir/report/state_bar.hpp>

#include "support/catch.hpp"

#include <chrono>

using weir::slot_times;
using weir::detail::state_bar;
using namespace std::chrono_literals;

TEST_CASE("the parts of a bar follow each other and fill it") {
    slot_times t;
    t.run = 1ms;
    t.await = 1ms;
    t.off = 1ms;
    CHECK(state_bar(t, 10, 5, 100) ==
          R"(<path class="st-run" d="M10 5h33"/><path class="st-await" d="M43 5h34"/>)"
          R"(<path class="st-off" d="M77 5h33"/>)");
    CHECK(state_bar(slot_times(), 0, 0, 100).empty());
}
