#include <weir/zip.hpp>

auto rows = weir::zip(weir::source({1, 2}), weir::source({3, 4})) | weir::sink();
