// weir executor: what is thrown where nothing can ever go on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_DEADLOCK_HPP
#define WEIR_EXECUTOR_DEADLOCK_HPP

#include <weir/platform/requirements.hpp>

#include <stdexcept>  // for std::runtime_error

namespace weir {

/// Nothing can run, no timer is left, and somebody still waits. `what()` names each waiting
/// coroutine: its stage and slot where it has one, what it waits for, and on which channel.
class deadlock_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace weir

#endif
