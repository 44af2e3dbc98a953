#include <weir/stages/stage.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

using weir::generator;
using weir::task;
using weir::detail::kept_options;
using weir::detail::next_of;

namespace {

template <class Class>
std::string_view name_of_class() {
    return weir::detail::name_of_class(weir::detail::type_text<Class>(), std::is_class_v<Class>);
}

generator<std::string> two_words() {
    co_yield "one";
    std::string kept = "two";
    co_yield kept;
    co_yield kept;
}

}  // namespace

TEST_CASE("values of a generator are taken one by one, and then none") {
    auto words = two_words();
    CHECK(next_of<std::string>(words, true) == "one");
    CHECK(next_of<std::string>(words, false) == "two");
    CHECK(next_of<std::string>(words, false) == "two");
    CHECK_FALSE(next_of<std::string>(words, false).has_value());
}

TEST_CASE("an optional is replaced by another also where its value can't be assigned to") {
    class fixed {
      public:
        explicit fixed(int n) : number(n) {}
        const int number;
    };
    std::optional<fixed> place;
    weir::detail::replace(place, std::optional<fixed>(1));
    REQUIRE(place.has_value());
    CHECK(place->number == 1);
    weir::detail::replace(place, std::optional<fixed>(2));
    CHECK(place->number == 2);
    weir::detail::replace(place, std::optional<fixed>());
    CHECK_FALSE(place.has_value());
}

namespace {

struct decode {};
template <class T>
struct resize {};

struct outer {
    struct inner {};
};

TEST_CASE("a class is called as it is called, wherever it lies and whatever it is made of") {
    struct local {};
    CHECK(name_of_class<decode>() == "decode");
    CHECK(name_of_class<outer::inner>() == "inner");
    CHECK(name_of_class<local>() == "local");
    CHECK(name_of_class<resize<int>>() == "resize");
    CHECK(name_of_class<resize<resize<int>>>() == "resize");
}

TEST_CASE("what has no name, or says nothing about what it does, is called nothing") {
    const auto lambda = [](int n) { return n; };
    const auto generic = [](auto n) { return n; };
    CHECK(name_of_class<decltype(lambda)>().empty());
    CHECK(name_of_class<decltype(generic)>().empty());
    CHECK(name_of_class<int(int)>().empty());
    CHECK(name_of_class<int (*)(int)>().empty());
    CHECK(name_of_class<int decode::*>().empty());
    CHECK(name_of_class<std::function<int(int)>>().empty());
    CHECK(name_of_class<kept_options>().empty());
}

TEST_CASE("options without a name get that of a function's class, else the kind and the place") {
    CHECK(kept_options({}, "pipe").name == "pipe#1");
    CHECK(kept_options::of_function<decode>({}, "pipe").name == "decode");
    CHECK(kept_options::of_function<int(int)>({}, "pipe").name == "pipe#1");
    CHECK(kept_options::of_function<decode>({.name = "mine"}, "pipe").name == "mine");
    CHECK(kept_options({.name = "mine"}, "pipe").name == "mine");
}

TEST_CASE("a place is told as long as nobody has given a name") {
    kept_options options({}, "filter");
    options.set_place(12);
    CHECK(options.name == "filter#12");
    options.set_place(3);
    CHECK(options.name == "filter#3");
    options.name = "mine";
    options.set_place(4);
    CHECK(options.name == "mine");

    kept_options given({.name = "filter#1"}, "filter");
    given.set_place(7);
    CHECK(given.name == "filter#1");
}

}  // namespace
