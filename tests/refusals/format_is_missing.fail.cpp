// expect-error: weir: <weir/report/format.hpp> needs std::format
// Where the standard library has none, a sentence says what to take instead.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/format.hpp>
