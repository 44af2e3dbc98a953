// lab driver: records which program and plan the runs in a folder belong to
#ifndef LAB_DRIVER_FOLDER_HPP
#define LAB_DRIVER_FOLDER_HPP

#include "lab/design/plan.hpp"

#include <string>

namespace lab {

// Writes into `folder` what is measured, and how: a plan or a program that was changed would give its rows a
// meaning that they don't have. Throws input_error if the folder has another; a `growing` schedule may have more
// than the folder's.
void keep_as(const std::string& folder, const factor_file& file, const plan& schedule, bool growing);

}  // namespace lab

#endif
