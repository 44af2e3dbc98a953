#include <weir/sink.hpp>

auto end = weir::sink(3);
