// weir execution: includes the implementation of std::execution, and gives it the name `lib`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_LIBRARY_HPP
#define WEIR_EXECUTION_LIBRARY_HPP

#include <weir/platform/config.hpp>

#include <stdexec/execution.hpp>

namespace weir::execution {

/// `stdexec`, the reference implementation of std::execution (P2300). Standard libraries don't have it yet.
namespace lib = ::stdexec;

}  // namespace weir::execution

#endif
