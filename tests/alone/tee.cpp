#include <weir/tee.hpp>

auto watched = weir::source({1, 2}) | weir::tee(weir::pipe([](int n) { return n; })) | weir::sink();
