// lab driver: ends the process group of a child if this process is killed
#ifndef LAB_DRIVER_GUARD_HPP
#define LAB_DRIVER_GUARD_HPP

#include <sys/types.h>

namespace lab {

// A process that waits for this one's end, and then kills the group with SIGKILL: SIGKILL leaves nobody the time to
// do so himself. Destroyed while the group's leader isn't waited for yet, so that its number is nobody else's.
class guard {
  public:
    explicit guard(pid_t group);
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard();

  private:
    int held_ = -1;  // closed by this process's end alone
    pid_t process_ = -1;
};

}  // namespace lab

#endif
