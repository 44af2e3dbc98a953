// What a program of the examples prints in a test, and its exit status.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_PRINTED_HPP
#define WEIR_TESTS_SUPPORT_PRINTED_HPP

#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>

namespace printed {

struct outcome {
    int status;
    std::string out;
    std::string err;
};

// The text that is written to a stream meanwhile.
class captured {
  public:
    explicit captured(std::ostream& from) : from_(from), before_(from.rdbuf(text_.rdbuf())) {}
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;
    ~captured() { from_.rdbuf(before_); }
    std::string text() const { return text_.str(); }

  private:
    std::ostringstream text_;
    std::ostream& from_;
    std::streambuf* before_;
};

}  // namespace printed

#endif
