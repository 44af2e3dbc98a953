// lab data: the exception for a mistake in the user's input, with its place
#ifndef LAB_DATA_INPUT_ERROR_HPP
#define LAB_DATA_INPUT_ERROR_HPP

#include <cstddef>
#include <stdexcept>
#include <string>

namespace lab {

// `what()` is the message for the user: "FILE:LINE: what is wrong; what to do". The program ends with status 2.
class input_error : public std::runtime_error {
  public:
    explicit input_error(const std::string& message) : std::runtime_error(message) {}
    input_error(const std::string& file, const std::string& message)
        : std::runtime_error(file + ": " + message) {}
    // Lines are counted from 1; the header is the first.
    input_error(const std::string& file, std::size_t line, const std::string& message)
        : std::runtime_error(file + ":" + std::to_string(line) + ": " + message) {}
};

}  // namespace lab

#endif
