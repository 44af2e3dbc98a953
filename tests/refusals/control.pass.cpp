// The control: what compiles does so with the command of the compile-fail tests too. If it did not,
// those might fail for any reason.
// SPDX-License-Identifier: BSL-1.0
#include <weir/version.hpp>

static_assert(WEIR_VERSION_MAJOR >= 0);

int main() {}
