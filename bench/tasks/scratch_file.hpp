// tasks: a file that is deleted when the process ends.
#ifndef BENCH_TASKS_SCRATCH_FILE_HPP
#define BENCH_TASKS_SCRATCH_FILE_HPP

#include <cstddef>
#include <string>

namespace tasks {

enum class scratch_kind { any, on_disk, in_memory };

// Whether the file of a descriptor is in memory.
bool lies_in_memory(int descriptor);

class scratch_file {
  public:
    // In TMPDIR, or in another folder of this kind. Errors: refusal.
    explicit scratch_file(scratch_kind kind);
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    ~scratch_file();

    int descriptor() const { return descriptor_; }
    // Gives up the file: the caller owns the descriptor from now on.
    int release();

    // Errors: std::system_error.
    void write_at_begin(const char* from, std::size_t bytes);
    void read_at_begin(char* into, std::size_t bytes);

  private:
    int descriptor_ = -1;
};

}  // namespace tasks

#endif
