// lab data: reads a file as text; splits a list of names
#ifndef LAB_DATA_TEXT_HPP
#define LAB_DATA_TEXT_HPP

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lab {

// The content of the file; "" if it can't be read.
inline std::string text_in(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// "a, b, c".
inline std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

// Of ASCII.
inline std::string lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

// `text` with each placeholder `place`, as "{}", replaced.
inline std::string filled(std::string text, const std::string& place, const std::string& value) {
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + value.size()))
        text.replace(at, place.size(), value);
    return text;
}

}  // namespace lab

#endif
