// expect-error: weir: needs exceptions
// Without exceptions nothing could fail as it is documented, so nothing is compiled.
// SPDX-License-Identifier: BSL-1.0
#include <weir/version.hpp>

#include <weir/executor/executor.hpp>
