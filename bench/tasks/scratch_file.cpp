#include "scratch_file.hpp"

#include "factors.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

namespace tasks {
namespace {

std::vector<std::string> folders(scratch_kind kind) {
    if (kind == scratch_kind::in_memory) return {"/dev/shm", "/run/shm", "/tmp"};
    std::vector<std::string> all;
    if (const char* const own = std::getenv("TMPDIR"); own != nullptr && *own != 0) all.emplace_back(own);
    for (const char* const each : {"/tmp", "/var/tmp", "."}) all.emplace_back(each);
    return all;
}

int opened_in(const std::string& folder) {
    std::string path = folder + "/weir_tasks_XXXXXX";
    const int descriptor = mkostemp(path.data(), 0);
    if (descriptor >= 0) unlink(path.c_str());
    return descriptor;
}

// Repeats a partial read or write until all bytes are done.
template <class Transfer>
void transfer_all(const char* what, std::size_t bytes, const Transfer& transfer) {
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t n = transfer(done, bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) throw std::system_error(n < 0 ? errno : EIO, std::generic_category(), what);
        done += static_cast<std::size_t>(n);
    }
}

}  // namespace

bool lies_in_memory(int descriptor) {
    struct statfs where{};
    return fstatfs(descriptor, &where) == 0 && (where.f_type == TMPFS_MAGIC || where.f_type == RAMFS_MAGIC);
}

scratch_file::scratch_file(scratch_kind kind) {
    for (const std::string& folder : folders(kind)) {
        descriptor_ = opened_in(folder);
        if (descriptor_ < 0) continue;
        if (kind == scratch_kind::any || lies_in_memory(descriptor_) == (kind == scratch_kind::in_memory))
            return;
        close(std::exchange(descriptor_, -1));
    }
    if (kind == scratch_kind::in_memory) throw refusal{"there is no folder in memory: /dev/shm"};
    throw refusal{
        "no file can be made on a disk, in TMPDIR, /tmp, /var/tmp or here; set TMPDIR to a folder on one"};
}

scratch_file::~scratch_file() {
    if (descriptor_ >= 0) close(descriptor_);
}

int scratch_file::release() { return std::exchange(descriptor_, -1); }

void scratch_file::write_at_begin(const char* from, std::size_t bytes) {
    transfer_all("writing a scratch file", bytes, [&](std::size_t done, std::size_t left) {
        return pwrite(descriptor_, from + done, left, static_cast<off_t>(done));
    });
}

void scratch_file::read_at_begin(char* into, std::size_t bytes) {
    transfer_all("reading a scratch file", bytes, [&](std::size_t done, std::size_t left) {
        return pread(descriptor_, into + done, left, static_cast<off_t>(done));
    });
}

}  // namespace tasks
