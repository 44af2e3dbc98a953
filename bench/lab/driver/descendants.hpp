// lab driver: the processes that a child started and left behind
#ifndef LAB_DRIVER_DESCENDANTS_HPP
#define LAB_DRIVER_DESCENDANTS_HPP

#include <vector>

#include <sys/types.h>

namespace lab {

// While it lives, what loses its parent among this process's descendants becomes a child of this process, whatever
// session or group it is in. Only Linux has that; elsewhere nothing is found.
class descendants {
  public:
    descendants();
    descendants(const descendants&) = delete;
    descendants& operator=(const descendants&) = delete;
    ~descendants();

    // Kills and waits for all children but those there were at the beginning, and what these have left behind. How
    // many there were that hadn't ended by themselves.
    [[nodiscard]] int end_all_but_these() const;

  private:
    const std::vector<pid_t> before_;
    int was_reaper_ = 0;
};

}  // namespace lab

#endif
