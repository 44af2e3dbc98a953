// images: finds the JPEG files below a directory, and reads them.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_PHOTO_HPP
#define WEIR_EXAMPLES_IMAGES_PHOTO_HPP

#include <algorithm>     // for std::sort
#include <cerrno>        // for errno
#include <filesystem>    // for std::filesystem::recursive_directory_iterator
#include <fstream>       // for std::ifstream
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::error_code
#include <vector>        // for std::vector

namespace images {

/// The content of a file, or the reason why it could not be read.
struct photo {
    std::string path;
    std::vector<unsigned char> bytes;
    std::string problem;
};

[[nodiscard]] inline bool is_named_jpeg(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return ending == ".jpg" || ending == ".jpeg";
}

/// \returns the files below a directory with the extensions of JPEG files, in order. Links to directories are
///          not followed; directories that can't be read are skipped.
/// Errors: `std::runtime_error` if there is no such directory, or no such file in it.
[[nodiscard]] inline std::vector<std::string> find_photos(const std::string& directory) {
    namespace fs = std::filesystem;
    const std::string advice =
        "; name a directory with photographs, or install some: Debian's package lomiri-wallpapers-16.04 puts "
        "them into /usr/share/backgrounds";
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
        throw std::runtime_error("'" + directory + "' is no directory" +
                                 (error ? " (" + error.message() + ")" : "") + advice);
    }
    std::vector<std::string> found;
    for (const auto& entry :
         fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied)) {
        if (is_named_jpeg(entry.path()) && entry.is_regular_file(error))
            found.push_back(entry.path().string());
    }
    if (found.empty()) {
        throw std::runtime_error("'" + directory +
                                 "' holds no JPEG file (*.jpg, *.jpeg), nor does a directory in it" + advice);
    }
    std::sort(found.begin(), found.end());
    return found;
}

[[nodiscard]] inline photo read(const std::string& path) {
    photo result{path, {}, {}};
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    std::ifstream file;
    if (!error) {
        file.open(path, std::ios::binary);
        if (!file) error.assign(errno, std::generic_category());
    }
    if (error) {
        result.problem = error.message();
        return result;
    }
    result.bytes.resize(static_cast<std::size_t>(size));
    file.read(reinterpret_cast<char*>(result.bytes.data()), static_cast<std::streamsize>(size));
    result.bytes.resize(static_cast<std::size_t>(file.gcount()));
    return result;
}

/// A stage. A file that can't be read must not fail the others of its list: the reason takes its place.
[[nodiscard]] inline std::vector<photo> read_all(const std::vector<std::string>& paths) {
    std::vector<photo> photos;
    for (const std::string& path : paths) photos.push_back(read(path));
    return photos;
}

}  // namespace images

#endif
