// lab driver: records which program and plan the runs in a folder belong to
#ifndef LAB_DRIVER_FOLDER_HPP
#define LAB_DRIVER_FOLDER_HPP

#include "lab/design/plan.hpp"

#include <string>

namespace lab {

// Records in `folder` what is measured, and how, because a changed plan or program would change the meaning of
// its rows. Throws input_error if the folder has another record. A `growing` schedule may extend that of the
// folder.
void keep_as(const std::string& folder, const factor_file& file, const plan& schedule, bool growing);

}  // namespace lab

#endif
