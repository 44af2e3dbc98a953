// weir platform, internal: bodies of the functions of platform/output_file.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OUTPUT_FILE_IPP
#define WEIR_PLATFORM_OUTPUT_FILE_IPP

#include <weir/platform/output_file.hpp>

#include <weir/platform/config.hpp>

#include <cstddef>    // for std::size_t
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::runtime_error

namespace weir::detail {

WEIR_INLINE output_file output_file::at_end_of(std::string path) {
    output_file file(std::move(path));
    file.open(file.path_);
    return file;
}

WEIR_INLINE output_file output_file::append_to(std::string path) {
    output_file file = at_end_of(std::move(path));
    file.cut_to_whole_lines();
    return file;
}

WEIR_INLINE void output_file::replace(const std::string& path, std::string_view text, bool durably) {
    output_file file(path);
    if (is_device(path.c_str())) {
        file.open(path);
        return file.write(text);
    }
    const std::string target = behind_links(path);
    const std::string other = file.open_beside(target);
    try {
        file.cut(0);
        copy_permissions(target.c_str(), file.file_);
        file.write(text);
        if (durably && sync_output(file.file_) != 0) file.fail();
    } catch (...) {
        remove_output(std::exchange(file.file_, -1), other.c_str());
        throw;
    }
    if (!rename_output(std::exchange(file.file_, -1), other.c_str(), target.c_str())) file.fail();
    if (durably) sync_folder_of(target.c_str());
}

WEIR_INLINE std::string output_file::open_beside(const std::string& target) {
    constexpr int most_writers = 100;
    for (int n = 0; n < most_writers; ++n) {
        std::string other = target + ".new" + (n == 0 ? "" : std::to_string(n));
        open(other);
        if (try_lock_output(file_, other.c_str())) return other;
        close();
    }
    errno = EBUSY;
    fail();
}

WEIR_INLINE void output_file::cut(std::int64_t size) {
    if (cut_output(file_, size) != 0) fail();
}

WEIR_INLINE void output_file::write(std::string_view text) {
    const std::int64_t before = size_of_output(file_);
    if (write_whole(file_, text)) return;
    const int error = errno;
    if (before >= 0) static_cast<void>(cut_output(file_, before));
    errno = error;
    fail();
}

WEIR_INLINE void output_file::close() noexcept {
    if (file_ >= 0) close_output(std::exchange(file_, -1));
}

WEIR_INLINE void output_file::open(const std::string& path) {
    file_ = open_output(path.c_str());
    if (file_ < 0) fail();
}

WEIR_INLINE void output_file::cut_to_whole_lines() {
    const std::int64_t size = size_of_output(file_);  // negative: not a regular file
    std::int64_t whole = size;
    for (char part[512]; whole > 0;) {
        const std::int64_t from = larger<std::int64_t>(whole, sizeof part) - std::int64_t{sizeof part};
        const std::int64_t n =
            read_of_file(path_.c_str(), from, part, static_cast<std::size_t>(whole - from));
        if (n != whole - from) return;
        const std::size_t last = std::string_view(part, static_cast<std::size_t>(n)).rfind('\n');
        const bool found = last != std::string_view::npos;
        whole = from + (found ? static_cast<std::int64_t>(last) + 1 : 0);
        if (found) break;
    }
    if (whole < size) static_cast<void>(cut_output(file_, whole));
}

WEIR_INLINE parts_file::parts_file(std::string path, std::string head, std::string end)
    : file_(output_file::at_end_of(std::move(path))), head_(std::move(head)), end_(std::move(end)) {
    const std::lock_guard guard(file_);
    prepare();
}

WEIR_INLINE void parts_file::write(std::string_view part) {
    const std::lock_guard guard(file_);
    if (file_.size() != size_) prepare();
    file_.write(part);
    size_ = file_.size();
}

WEIR_INLINE void parts_file::prepare() {
    const std::int64_t size = file_.size();
    if (size > 0 && !begins_with_head(size)) file_.cut(0);
    if (file_.empty()) {
        file_.write(head_);
    } else {
        cut_to_whole_parts(size);
    }
    size_ = file_.size();
}

WEIR_INLINE bool parts_file::begins_with_head(std::int64_t size) const {
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

WEIR_INLINE void parts_file::cut_to_whole_parts(std::int64_t size) {
    constexpr std::int64_t block = 1 << 16;
    const auto floor = static_cast<std::int64_t>(head_.size());
    const auto length = static_cast<std::int64_t>(end_.size());
    std::int64_t end = size;  // no part ends behind this place
    for (std::string text; end > floor;) {
        const std::int64_t from = larger(floor, end - length - block);
        text.resize(static_cast<std::size_t>(end - from));
        const std::int64_t n = read_of_file(file_.path().c_str(), from, text.data(), text.size());
        if (n != end - from) return;
        const std::size_t last = text.rfind(end_);
        const bool found = last != std::string::npos;
        end = found           ? from + static_cast<std::int64_t>(last) + length
              : from == floor ? floor
                              : from + length - 1;
        if (found) break;
    }
    if (end != size) file_.cut(end);
}

}  // namespace weir::detail

#endif
