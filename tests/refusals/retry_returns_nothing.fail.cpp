// expect-error: weir: a stage's function has to give an item to the next stage; this one gives nothing
// What a pipe retries gives an item.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>

void show(int);

auto shown = weir::source({1, 2}) | weir::pipe(weir::retry(show)) | weir::sink();

int main() {}
