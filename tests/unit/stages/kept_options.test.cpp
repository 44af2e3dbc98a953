#include <weir/stages/kept_options.hpp>

#include "support/catch.hpp"

#include <functional>
#include <string>

using weir::detail::kept_options;
using weir::detail::name_of_class;

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
    options.stand_at(12);
    CHECK(options.name == "filter#12");
    options.stand_at(3);
    CHECK(options.name == "filter#3");
    options.name = "mine";
    options.stand_at(4);
    CHECK(options.name == "mine");

    kept_options given({.name = "filter#1"}, "filter");
    given.stand_at(7);
    CHECK(given.name == "filter#1");
}

}  // namespace
