#include <weir/merge.hpp>

auto all = weir::merge(weir::source({1, 2}), weir::source({3, 4})) | weir::sink();
