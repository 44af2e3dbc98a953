// expect-error: weir: a stage of a stage_list has to be copyable, as each run gets a copy of it
// A list's stages can be started twice.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>
#include <weir/stages/stage_list.hpp>

#include <memory>

void fill(weir::stage_list<int>& stages) {
    stages.add(weir::pipe([factor = std::make_unique<int>(2)](int n) { return *factor * n; }));
}

int main() {}
