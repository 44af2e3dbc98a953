// expect-error: weir: this stage's function can't be called with what the stage before it gives
// What it takes is what the stage before it gives.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

#include <string>

auto wrong = weir::source({1, 2, 3}) | weir::for_each([](const std::string&) {});

int main() {}
