// lab driver: a lock that allows one driver at a time
#ifndef LAB_DRIVER_LOCK_HPP
#define LAB_DRIVER_LOCK_HPP

#include <string>

namespace lab {

// Holds a lock on a file until it is destroyed, or its process ends. Throws input_error with the holder's name
// if another process holds it.
class driver_lock {
  public:
    driver_lock(const std::string& path, const std::string& what);
    driver_lock(const driver_lock&) = delete;
    driver_lock& operator=(const driver_lock&) = delete;
    ~driver_lock();

    // One file for the whole machine.
    static std::string machine_path();

  private:
    int file_;
};

}  // namespace lab

#endif
