#include <weir/stage_list.hpp>

weir::stage_list<int> stages;
