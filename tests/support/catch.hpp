// Catch2 3 or 2: the version that find_catch2.cmake has found, or else whichever is installed. Its assertions are not safe to use from several threads:
// CHECK and REQUIRE on the main thread only; workers record what they saw.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_CATCH_HPP
#define WEIR_TESTS_SUPPORT_CATCH_HPP

#if !defined(WEIR_TESTS_CATCH2) && __has_include(<catch2/catch_test_macros.hpp>)
#define WEIR_TESTS_CATCH2 3
#endif

#if defined(WEIR_TESTS_CATCH2) && WEIR_TESTS_CATCH2 >= 3
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#else
#include <catch2/catch.hpp>

// What Catch2 3 calls otherwise, under its name there.
namespace Catch {
using Detail::Approx;
}
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

#endif
