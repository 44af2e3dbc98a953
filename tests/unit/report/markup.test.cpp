#include <weir/report/markup.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using weir::detail::escaped;
using weir::detail::labels_of;
using weir::detail::short_number;
using weir::detail::shortened;
using weir::detail::time_markup;
using namespace std::chrono_literals;

TEST_CASE("what markup is made of is escaped, for text and for attributes") {
    CHECK(escaped("</script>") == "&lt;/script&gt;");
    CHECK(escaped("\"x\" & 'y'") == "&quot;x&quot; &amp; 'y'");
    CHECK(escaped("день 数据") == "день 数据");
    CHECK(escaped("two\nlines\tand a tab") == "two\nlines\tand a tab");
    CHECK(escaped("") == "");
}

TEST_CASE("what is no UTF-8, and what XML has no place for, becomes U+FFFD") {
    const std::string instead = "\xEF\xBF\xBD";
    CHECK(escaped("\xFF") == instead);
    CHECK(escaped("a\xC3") == "a" + instead);
    CHECK(escaped(std::string(1, '\0')) == instead);
    CHECK(escaped("\x1B[1m") == instead + "[1m");
    CHECK(escaped("\x7F") == instead);
    CHECK(escaped("\xEF\xBF\xBE\xEF\xBF\xBF") == instead + instead);
}

TEST_CASE("a text is cut by columns, between characters") {
    CHECK(shortened("abc", 3) == "abc");
    CHECK(shortened("abcd", 3) == "ab…");
    CHECK(shortened("数据集", 6) == "数据集");
    CHECK(shortened("数据集合", 6) == "数据…");
    CHECK(shortened("\xFF\xFF\xFF", 2) == "\xFF…");
    CHECK(shortened("abc", 0) == "…");
}

TEST_CASE("no label is empty, long, or given twice") {
    const std::vector<std::string> labels =
        labels_of({"a", "", "a", "b", "a", std::string(30, 'x'), std::string(40, 'x')});
    CHECK(labels == std::vector<std::string>{"a", "(no name)", "a (2)", "b", "a (3)",
                                             std::string(23, 'x') + "…", std::string(23, 'x') + "… (2)"});
}

TEST_CASE("numbers are short, and no locale changes them") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(28.571428571) == "28.5714");
    CHECK(short_number(35) == "35");
    CHECK(time_markup(850us) == "850 µs");
    CHECK(time_markup(2700us) == "2.7 ms");
    CHECK(time_markup(0us) == "0");
}
