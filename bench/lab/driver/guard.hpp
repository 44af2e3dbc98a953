// lab driver: ends the process group of a child if this process is killed
#ifndef LAB_DRIVER_GUARD_HPP
#define LAB_DRIVER_GUARD_HPP

#include <sys/types.h>

namespace lab {

// A process that waits for the end of this one, and then kills the group with SIGKILL. This process could not
// do so itself after a SIGKILL. Destroy the guard before the leader of the group is waited for, while its
// number can't be reused.
class guard {
  public:
    explicit guard(pid_t group);
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard();

  private:
    int held_ = -1;  // closed only by the end of this process
    pid_t process_ = -1;
};

}  // namespace lab

#endif
