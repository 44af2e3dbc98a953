// weir executor: the errors that blocking calls throw: a deadlock, and use of a parent's threads after a fork
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_ERRORS_HPP
#define WEIR_EXECUTOR_ERRORS_HPP

#include <weir/platform/requirements.hpp>

#include <stdexcept>  // for std::runtime_error

namespace weir {

/// A deadlock: no coroutine is ready, no timer is pending, and at least one coroutine still waits. `what()`
/// names each waiting coroutine: its stage and slot, if it has one, and the channel that it waits on.
class deadlock_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A forked process uses a pool, or a run on a pool, that its parent made before the fork. A fork copies
/// memory, but only the thread that calls `fork`, so the child has none of the pool's threads. In the child,
/// destructors of such pools and runs return at once and leave their items and coroutines as they are. The
/// parent is not affected.
///
/// These uses are safe in the child: exec, `_exit`, pools made after the fork, and executors that run on one
/// thread (`run_loop`, `virtual_time`). A stage function that forks has to call exec or `_exit` in the child.
class forked_error : public std::runtime_error {
  public:
    forked_error()
        : std::runtime_error(
              "weir: this process was forked from one whose pool's threads it doesn't have; "
              "exec, or make pools after the fork") {}
};

}  // namespace weir

#endif
