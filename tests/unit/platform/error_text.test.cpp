#include <weir/platform/error_text.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

using items::contains;
using weir::detail::error_text;

namespace {

template <class E>
std::string text_of(E thrown) {
    return error_text(std::make_exception_ptr(thrown));
}

struct gives_null : std::exception {
    const char* what() const noexcept override { return nullptr; }
};
struct own_kind {};

}  // namespace

TEST_CASE("a standard exception says its text, or its type where it has none, also as a null pointer") {
    CHECK(text_of(std::runtime_error("no JPEG")) == "no JPEG");
    CHECK(text_of(std::runtime_error("")) == "an exception of type std::runtime_error, without a text");
    CHECK(contains(text_of(gives_null()), "gives_null, without a text"));
}

TEST_CASE("a thrown string or number says its text and its type, and anything else its type") {
    char own[] = "own";
    CHECK(text_of(std::string("x")) == "x (thrown as std::string)");
    CHECK(contains(text_of(std::string_view("y")), "y (thrown as std::"));
    CHECK(text_of(static_cast<const char*>("z")) == "z (thrown as char const*)");
    CHECK(text_of(static_cast<char*>(own)) == "own (thrown as char*)");
    CHECK(text_of(42) == "42 (thrown as int)");
    CHECK(text_of(42U) == "42 (thrown as unsigned int)");
    CHECK(text_of(-1L) == "-1 (thrown as long)");
    CHECK(text_of(1ULL) == "1 (thrown as unsigned long long)");
    CHECK(contains(text_of(2.5), "2.5"));
    CHECK(text_of(static_cast<const char*>(nullptr)) == "an exception of type char const*, without a text");
    CHECK(contains(text_of(own_kind()), "own_kind, without a text"));
    CHECK(error_text(nullptr) == "no exception");
}

TEST_CASE("the type of an exception is the one that was thrown") {
    CHECK(weir::detail::error_type(std::make_exception_ptr(std::out_of_range(""))) == "std::out_of_range");
    CHECK(weir::detail::error_type(std::make_exception_ptr(1)) == "int");
}
