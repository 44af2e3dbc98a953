// The main function of each test program, where Catch2 is a 2.x.
// SPDX-License-Identifier: BSL-1.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
