// weir executor: what is thrown in a forked process where threads are needed that only its parent has
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_FORKED_HPP
#define WEIR_EXECUTOR_FORKED_HPP

#include <weir/platform/requirements.hpp>

#include <stdexcept>  // for std::runtime_error

namespace weir {

/// A process was forked, and uses a pool, or a run on it, that was made before. A fork copies memory, but
/// no thread except the one that forks: nothing of the pool runs in the child, where the destructors of
/// such pools and runs return at once, and leave the items and coroutines as they are. The parent
/// goes on as if nothing had happened.
///
/// To exec, or to leave by `_exit`, needs none of this; a pool made after the fork works as ever; and so
/// does everything that runs on one thread (`run_loop`, `virtual_time`). A stage's function that forks
/// must do one of the first two in the child.
class forked_error : public std::runtime_error {
  public:
    forked_error()
        : std::runtime_error(
              "weir: this process was forked from one whose pool's threads it doesn't have; "
              "exec, or make pools after the fork") {}
};

}  // namespace weir

#endif
