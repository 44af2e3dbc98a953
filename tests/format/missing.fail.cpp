// expect-error: weir: <weir/format.hpp> needs std::format
// Where the standard library has none, a sentence says what to take instead.
// SPDX-License-Identifier: BSL-1.0
#include <weir/format.hpp>
