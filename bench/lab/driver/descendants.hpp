// lab driver: the processes that a child started and left behind
#ifndef LAB_DRIVER_DESCENDANTS_HPP
#define LAB_DRIVER_DESCENDANTS_HPP

#include <vector>

#include <sys/types.h>

namespace lab {

// While this object lives, orphaned descendants of this process become its children, whatever session or group
// they are in. Only Linux supports this; elsewhere nothing is found.
class descendants {
  public:
    descendants();
    descendants(const descendants&) = delete;
    descendants& operator=(const descendants&) = delete;
    ~descendants();

    // Kills and waits for all children that did not exist at construction, and the processes that these left
    // behind. Returns how many of them had not ended by themselves.
    [[nodiscard]] int end_all_but_these() const;

  private:
    const std::vector<pid_t> before_;
    int was_reaper_ = 0;
};

}  // namespace lab

#endif
