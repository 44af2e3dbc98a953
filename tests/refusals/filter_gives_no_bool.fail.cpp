// expect-error: weir: a filter's predicate has to give a bool, or an awaitable of one
// A predicate says yes or no.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>

#include <string>

auto kept = weir::source({1, 2, 3}) | weir::filter([](int n) { return std::to_string(n); }) | weir::sink();

int main() {}
