// expect-error: weir: a stage_list is compiled for a list of policies
// The policies of a list are a list, be it of one.
// SPDX-License-Identifier: BSL-1.0
#include <weir/measure/policy.hpp>
#include <weir/stages/stage_list.hpp>

weir::stage_list<int, weir::unmeasured> filters;

int main() {}
