// expect-error: weir: printed() takes statistics and reports
// What has a text is a list, so that the formatters claim no type of the program's own.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/printable.hpp>

void prints() { static_cast<void>(weir::printed(5)); }
