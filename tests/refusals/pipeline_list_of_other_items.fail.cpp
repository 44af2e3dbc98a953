// expect-error: weir: a stage_list<T> takes items of type T, and the stage before it gives others
// A list of stages takes items of its own type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>

#include <string>

auto words = weir::source({1, 2, 3}) | weir::stage_list<std::string>() | weir::sink();

int main() {}
