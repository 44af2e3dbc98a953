// expect-error: weir: async_generator gives values; for references yield pointers
// What next() gives outlives the coroutine's suspension, so it is a value.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/async_generator.hpp>

int main() { return static_cast<int>(sizeof(weir::async_generator<int&>)); }
