// expect-error: weir: the options of a pool are given by their names
// A pool has several options, so what each thread begins with is one option of them.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/thread_pool.hpp>

void names_it(unsigned worker);

void starts() { weir::thread_pool pool(2, names_it); }

int main() {}
