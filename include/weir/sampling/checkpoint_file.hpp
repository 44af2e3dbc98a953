// weir sampling: a checkpoint in a file, which survives a crash while it is written
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_FILE_HPP
#define WEIR_SAMPLING_CHECKPOINT_FILE_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/output_file.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/checkpoint_bytes.hpp>

#include <cerrno>        // for ENOENT, errno
#include <cstddef>       // for std::byte, std::size_t
#include <cstdint>       // for std::int64_t
#include <optional>      // for std::nullopt, std::optional
#include <span>          // for std::as_bytes, std::span
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <vector>        // for std::vector

namespace weir {

namespace detail {

// The system would cut the path off at the zero byte, and with it the `.new` of the second file.
inline void refuse_zero_byte(const std::string& path) {
    refuse_if(
        path.find('\0') != std::string::npos,
        "weir: the path of a checkpoint has a zero byte in it: was it made from a whole buffer? Give it "
        "the text before the zero only");
}

}  // namespace detail

/// Writes a checkpoint into a file, instead of its old content. If the process or the machine crashes during
/// the call, the file has the old content or the whole new content; after the call, the new content. The
/// bytes are those of `checkpoint::to_bytes`, which end with a checksum. The file keeps its permissions; its
/// owner becomes the user of the process. If `path` is a symbolic link, the file that it names is written.
/// On Windows, permissions are not kept, and the link is replaced.
///
///     weir::save_checkpoint("training.weir", weir::checkpoint::merge(those_of_all_ranks));
///
/// Errors: `std::system_error` with the path; `std::invalid_argument` if the path is empty or has a zero
///         byte; the errors of `to_bytes`. The old content stays.
/// Cost:   waits for the storage, for 1 to 100 ms; during the call, a second file exists beside it, with the
///         name of the file and `.new`; if several processes save into it at once, also `.new1`, and so on.
///         After a crash such a file remains, until the next call.
inline void save_checkpoint(const std::string& path, const checkpoint& done) {
    detail::refuse_if(path.empty(),
                      "weir: save_checkpoint was given an empty path; give it the name of a file");
    detail::refuse_zero_byte(path);
    const std::vector<std::byte> bytes = done.to_bytes();
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    detail::output_file::replace_durably(path, std::string_view(text, bytes.size()));
}

/// \returns the checkpoint in a file; nothing if there is no such file.
/// Errors: `std::invalid_argument` with the path and what is wrong, if the file is cut short, was changed or
///         is no checkpoint, or if the path is empty or has a zero byte; `std::system_error` with the path if
///         the file can't be read.
[[nodiscard]] inline std::optional<checkpoint> load_checkpoint(const std::string& path) {
    detail::refuse_if(path.empty(),
                      "weir: load_checkpoint was given an empty path; give it the name of a file");
    detail::refuse_zero_byte(path);
    // Each attempt reads from the beginning: between two reads, another process may save a checkpoint.
    std::string text;
    for (std::size_t size = 4096; text.size() < size; size *= 2) {
        text.resize(size);
        errno = 0;
        const std::int64_t n = detail::read_of_file(path.c_str(), 0, text.data(), size);
        if (n < 0 && errno == ENOENT) return std::nullopt;
        if (n < 0) throw std::system_error(errno, std::generic_category(), path);
        text.resize(static_cast<std::size_t>(n));
        // A file that is no checkpoint may be larger than the memory.
        if (text.size() < size || !detail::checkpoint_fields::begins(std::as_bytes(std::span(text)))) break;
    }
    try {
        return checkpoint::from_bytes(std::as_bytes(std::span(text)));
    } catch (const std::invalid_argument& why) {
        throw std::invalid_argument(path + ": " + why.what());
    }
}

}  // namespace weir

#endif
