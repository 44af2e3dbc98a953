// For tests of text that has to be the same in every locale.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_REPORT_GERMAN_HPP
#define WEIR_TESTS_REPORT_GERMAN_HPP

#include <clocale>
#include <locale>
#include <string>

namespace weir_test {

// While it lives, numbers are written as in German, 1.234,5: by C++ streams made from now on, and,
// on a machine that has such a locale, by the functions of C.
class german_locale {
    struct numbers : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };

    std::locale cpp_;
    std::string c_;

  public:
    german_locale() : c_(std::setlocale(LC_ALL, nullptr)) {
        std::setlocale(LC_ALL, "de_DE.UTF-8");
        // libstdc++ casts a facet of one's own by its type, which with -fno-rtti it has not.
#if defined(__cpp_rtti) || defined(_CPPRTTI)
        cpp_ = std::locale::global(std::locale(std::locale::classic(), new numbers));
#endif
    }
    german_locale(const german_locale&) = delete;
    german_locale& operator=(const german_locale&) = delete;
    ~german_locale() {
        std::locale::global(cpp_);
        std::setlocale(LC_ALL, c_.c_str());
    }
};

}  // namespace weir_test

#endif
