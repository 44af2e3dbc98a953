// weir floor 1: whether a channel or a run measures, chosen by type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_POLICY_HPP
#define WEIR_POLICY_HPP

#include <weir/detail/platform.hpp>

namespace weir {

/// Everything is measured; the default.
struct measured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = true;
};

/// Nothing is measured but how many items passed: no clock is read for statistics, and the members
/// that would hold them are not there. A policy of a type, not a macro, so that both can be used in
/// one program.
struct unmeasured {
    using platform = detail::standard_platform;
    static constexpr bool statistics = false;
};

}  // namespace weir

#endif
