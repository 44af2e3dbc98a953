// lab driver: a lock with flock
#include "lab/driver/lock.hpp"

#include "lab/data/input_error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace lab {

driver_lock::driver_lock(const std::string& path, const std::string& what)
    : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)) {
    // First without O_CREAT, which fails in /tmp for another user's file (fs.protected_regular).
    if (file_ < 0) file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
    ::fchmod(file_, 0666);  // independent of the umask, because other users' drivers use the file, too
    // A killed driver may have left a child before its exec, which keeps the file for a moment.
    bool held = true;
    for (int tries = 0; held && tries < 50; ++tries) {
        if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        held = ::flock(file_, LOCK_EX | LOCK_NB) != 0;
    }
    if (held) {
        char text[400];
        const ssize_t size = ::read(file_, text, sizeof text);
        const std::string holder(text, size > 0 ? static_cast<std::size_t>(size) : 0);
        ::close(file_);
        throw input_error(path, "another driver measures: " + holder +
                                    "; two at once would measure each other. Wait for it, or stop it");
    }
    const std::string text = "process " + std::to_string(::getpid()) + ", " + what;
    if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, text.data(), text.size(), 0) < 0)
        return;  // the message then has less information
}

driver_lock::~driver_lock() { ::close(file_); }

std::string driver_lock::machine_path() {
    const char* chosen = std::getenv("WEIR_LAB_LOCK");
    return chosen != nullptr ? chosen : "/tmp/weir-lab-driver.lock";
}

}  // namespace lab
