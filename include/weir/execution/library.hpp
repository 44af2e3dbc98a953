// weir execution: the implementation of std::execution that this room uses
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_LIBRARY_HPP
#define WEIR_EXECUTION_LIBRARY_HPP

#include <weir/platform/requirements.hpp>

#include <stdexec/execution.hpp>

namespace weir::execution {

/// `stdexec`, the reference implementation of P2300, until standard libraries have their own.
namespace lib = ::stdexec;

}  // namespace weir::execution

#endif
