// expect-error: weir: the options of a pool are given by their names
// The same of a pool for functions that block.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/blocking_pool.hpp>

void names_it(unsigned thread);

void starts() { weir::blocking_pool io(2, names_it); }

int main() {}
