// What every way of getting weir has to be able to build: the umbrella header, and nothing else.
// SPDX-License-Identifier: BSL-1.0
#include <weir/weir.hpp>

#include <cstdio>  // for std::printf

int main() { std::printf("weir %d.%d.%d\n", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR, WEIR_VERSION_PATCH); }
