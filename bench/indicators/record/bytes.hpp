// indicators record: hashes of bytes, and base64 for bytes that are not text
#ifndef INDICATORS_RECORD_BYTES_HPP
#define INDICATORS_RECORD_BYTES_HPP

#include <string>
#include <string_view>

namespace indicators {

// As 64 hexadecimal digits.
std::string sha256_of(std::string_view bytes);
// Empty if it can't be read.
std::string sha256_of_file(const std::string& path);

std::string base64_of(std::string_view bytes);
// Empty if the text is no base64.
std::string bytes_of_base64(const std::string& text);

// This many random bytes, as hexadecimal digits.
std::string random_digits(int bytes);

}  // namespace indicators

#endif
