// expect-error: weir: a source can't stand in a stage_list: it takes no items
// A list is of stages that take and give items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/stage_list.hpp>

#include <weir/stages/source.hpp>

int main() {
    weir::stage_list<int> list;
    list.add(weir::source({1, 2, 3}));
}
