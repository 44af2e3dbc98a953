// expect-error: weir: a stage of a stage_list<T> has to give a T
// In a list each stage takes and gives the same type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>
#include <weir/stages/stage_list.hpp>

int main() {
    weir::stage_list<int> list;
    list.add(weir::pipe([](int n) { return n / 2.0; }));
}
