// expect-error: weir: a stage_list takes and gives objects, which move
// Items move from stage to stage.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/stage_list.hpp>

#include <string>

weir::stage_list<const std::string&> filters;

int main() {}
