#include <weir/report/describe.hpp>

auto described = weir::describe(weir::source({1, 2}) | weir::sink());
