// lab data: a file as text
#ifndef LAB_DATA_TEXT_FILE_HPP
#define LAB_DATA_TEXT_FILE_HPP

#include <fstream>
#include <sstream>
#include <string>

namespace lab {

// All of it; "" if it can't be read.
inline std::string text_in(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace lab

#endif
