// expect-error: weir: disaggregate takes ranges apart, and the stage before it gives none
// Only ranges are taken apart.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

auto parts = weir::source({1, 2, 3}) | weir::disaggregate() | weir::sink();

int main() {}
