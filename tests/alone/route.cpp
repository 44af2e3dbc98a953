#include <weir/route.hpp>

auto routed = weir::source({1, 2}) |
              weir::route([](int n) { return n % 2; }, weir::branch("even"), weir::branch("odd")) |
              weir::sink();
