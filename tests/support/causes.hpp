// The exception inside of another one, also with -fno-rtti.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_CAUSES_HPP
#define WEIR_TESTS_SUPPORT_CAUSES_HPP

#include <exception>

namespace causes {

// Throws the one inside of `outer`, which is being handled; nothing if there is none.
inline void rethrow_cause([[maybe_unused]] const std::exception& outer) {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    std::rethrow_if_nested(outer);
#else
    try {
        throw;
    } catch (const std::nested_exception& it) {
        it.rethrow_nested();
    } catch (...) {
    }
#endif
}

}  // namespace causes

#endif
