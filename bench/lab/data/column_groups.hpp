// lab data: on/off columns that are really one factor; and runs that are left out
#ifndef LAB_DATA_COLUMN_GROUPS_HPP
#define LAB_DATA_COLUMN_GROUPS_HPP

#include "lab/data/run_table.hpp"

#include <string>

namespace lab {

// On/off factors of which exactly one is on in every run become one factor with these levels; the first is the base. No
// estimate is lost, because their sum is 1. The notes list the groups.
void group_columns(run_table& table);

// Leaves out the runs in which `treatment` ("factor" or "factor=value") is applied, and the factor if one value is
// left.
void leave_out(run_table& table, const std::string& treatment);

}  // namespace lab

#endif
