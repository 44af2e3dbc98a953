#include <weir/version.hpp>

static_assert(WEIR_VERSION_MAJOR >= 0);
