// weir platform, internal: a file that several processes write to, each in whole parts
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PARTS_FILE_HPP
#define WEIR_PLATFORM_PARTS_FILE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/output_file.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <mutex>        // for std::lock_guard
#include <stdexcept>    // for std::runtime_error
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

// It begins with a line that says what is in it, and goes on with parts. Each is written at once, and whole
// parts are left of what a process that was killed had written: whoever writes next cuts off the rest.
//
// Errors: those of `output_file`; `std::runtime_error` for a file that begins otherwise, which is left as it
//         is.
class parts_file {
  public:
    // `head`: the line. `end`: what every part ends with, and has nowhere else.
    parts_file(std::string path, std::string head, std::string end)
        : file_(output_file::at_end_of(std::move(path))), head_(std::move(head)), end_(std::move(end)) {
        const std::lock_guard guard(file_);
        prepare();
    }

    void write(std::string_view part) {
        const std::lock_guard guard(file_);
        if (file_.size() != size_) prepare();
        file_.write(part);
        size_ = file_.size();
    }

  private:
    // Somebody else wrote to it, and may have been killed doing so.
    void prepare() {
        const std::int64_t size = file_.size();
        if (size > 0 && !begins_with_head(size)) file_.cut(0);
        if (file_.empty()) {
            file_.write(head_);
        } else {
            cut_to_whole_parts(size);
        }
        size_ = file_.size();
    }

    // False: with the first bytes of it, and then it ends.
    bool begins_with_head(std::int64_t size) const {
        std::string first(head_.size(), '\0');
        const std::int64_t n = read_of_file(file_.path().c_str(), 0, first.data(), first.size());
        first.resize(static_cast<std::size_t>(larger<std::int64_t>(n, 0)));
        if (first == head_) return true;
        if (std::string_view(head_).starts_with(first) && static_cast<std::int64_t>(first.size()) == size)
            return false;
        throw std::runtime_error(file_.path() +
                                 ": its first line is another one than would be written here; it is left "
                                 "as it is: choose another path, or move it away");
    }

    void cut_to_whole_parts(std::int64_t size) {
        const auto floor = static_cast<std::int64_t>(head_.size());
        const auto length = static_cast<std::int64_t>(end_.size());
        std::int64_t end = size;
        for (std::string last(end_.size(), '\0'); end > floor; --end) {
            const std::int64_t n = read_of_file(file_.path().c_str(), end - length, last.data(), last.size());
            if (n != length) return;
            if (last == end_) break;
        }
        if (end != size) file_.cut(end);
    }

    output_file file_;
    const std::string head_;
    const std::string end_;
    std::int64_t size_ = 0;  // after what was written here last
};

}  // namespace weir::detail

#endif
