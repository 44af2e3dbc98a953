// expect-error: weir: generator<void> has nothing to yield
// A generator yields values or references.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

int main() { const weir::generator<void> g; }
