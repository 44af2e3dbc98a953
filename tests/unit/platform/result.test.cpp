#include <weir/platform/result.hpp>

#include "support/catch.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

using weir::detail::result;

namespace {

struct needs_luck {
    explicit needs_luck(bool luck) {
        if (!luck) throw std::runtime_error("no luck");
    }
};

template <class T>
std::string message_of(result<T>& r) {
    try {
        static_cast<void>(r.take());
    } catch (const std::exception& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a result gives away the value that was set") {
    result<std::string> r;
    r.set_value("value");
    CHECK_FALSE(r.has_exception());
    CHECK(r.take() == "value");
}

TEST_CASE("a result holds move-only values") {
    result<std::unique_ptr<int>> r;
    r.set_value(std::make_unique<int>(5));
    const std::unique_ptr<int> got = r.take();
    CHECK(*got == 5);
}

TEST_CASE("a result of a reference refers to the same object") {
    int x = 1;
    result<int&> r;
    r.set_value(x);
    static_assert(std::is_same_v<decltype(r.take()), int&>);
    CHECK(&r.take() == &x);

    std::string text = "text";
    result<std::string&&> m;
    m.set_value(text);
    static_assert(std::is_same_v<decltype(m.take()), std::string&&>);
    const std::string taken = m.take();
    CHECK(taken == "text");
    CHECK(text.empty());
}

TEST_CASE("a result throws the exception that was set, and shows it before") {
    result<int> r;
    r.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
    CHECK(r.has_exception());
    CHECK(r.exception() != nullptr);
    CHECK(message_of(r) == "broken");
}

TEST_CASE("a result of void has an exception or nothing") {
    result<void> fine;
    fine.set_value();
    CHECK_FALSE(fine.has_exception());
    CHECK(fine.exception() == nullptr);
    fine.take();

    result<void> broken;
    broken.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
    CHECK(broken.has_exception());
    CHECK_THROWS_AS(broken.take(), std::runtime_error);
}

TEST_CASE("a value that can't be made leaves room for the exception") {
    result<needs_luck> r;
    try {
        r.set_value(false);
    } catch (...) {
        r.set_exception(std::current_exception());
    }
    CHECK(r.has_exception());
    CHECK(message_of(r) == "no luck");
}
