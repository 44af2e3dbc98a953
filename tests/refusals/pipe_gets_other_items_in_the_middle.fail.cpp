// expect-error: weir: this stage's function can't be called with what the stage before it gives
// What a stage's function takes is what the stage before it gives, also behind other stages.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

#include <optional>
#include <string>
#include <vector>

std::optional<std::string> name_of(int) { return "a"; }
weir::task<double> weigh(std::vector<int> all) { co_return static_cast<double>(all.size()); }

auto weights =
    weir::source({1, 2, 3}) | weir::pipe(name_of) | weir::aggregate(2) | weir::pipe(weigh) | weir::sink();

int main() {}
