#include <weir/report/type_name.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

using weir::detail::are_one_type;
using weir::detail::read_type_name;
using weir::detail::tidy_type_name;
using weir::detail::type_name;
using weir::detail::type_of;

namespace animals {
struct cat {};
template <class T, int N>
struct pack {
    struct leader {};
};
class structured {};  // begins as a keyword does
}  // namespace animals

namespace {
struct hidden {};
struct base {
    virtual ~base() = default;
};
struct derived final : base {};
template <class T>
struct allocator_of_mine {};
}  // namespace

TEST_CASE("the name of a type is that of the program") {
    CHECK(type_name<int>() == "int");
    CHECK(type_name<double>() == "double");
    CHECK(type_name<animals::cat>() == "animals::cat");
    CHECK(type_name<animals::structured>() == "animals::structured");
    CHECK(type_name<animals::pack<animals::cat, 3>>() == "animals::pack<animals::cat, 3>");
    CHECK(type_name<animals::pack<int, 3>::leader>() == "animals::pack<int, 3>::leader");
    CHECK(type_name<const int*>() == "const int*");
    CHECK(type_name<int[3]>() == "int[3]");
    CHECK(type_name<std::array<char, 4>>() == "std::array<char, 4>");
    CHECK(type_name<std::pair<int, std::optional<bool>>>() == "std::pair<int, std::optional<bool>>");
}

TEST_CASE("a word that ends like a keyword stays whole") {
    for (const char before : {'_', '0', '9', 'a', 'z', 'A', 'Z'}) {
        const std::string word = std::string("a::b") + before + "class";
        CHECK(tidy_type_name(word + " *") == word + "*");
    }
    CHECK(tidy_type_name("b<class c>") == "b<c>");
}

TEST_CASE("the name of a type has std::string for it, and no default arguments") {
    CHECK(type_name<std::string>() == "std::string");
    CHECK(type_name<std::string_view>() == "std::string_view");
    CHECK(type_name<std::vector<std::vector<std::string>>>() == "std::vector<std::vector<std::string>>");
    CHECK(type_name<std::map<std::string, int>>() == "std::map<std::string, int>");
    CHECK(type_name<std::unordered_map<int, char>>() == "std::unordered_map<int, char>");
    CHECK(type_name<std::unique_ptr<animals::cat>>() == "std::unique_ptr<animals::cat>");
    CHECK(type_name<std::tuple<int, std::string>>() == "std::tuple<int, std::string>");
    CHECK(type_name<std::shared_ptr<const std::vector<float>>>() ==
          "std::shared_ptr<const std::vector<float>>");
}

TEST_CASE("the name of a type keeps arguments that are not defaults") {
    CHECK(type_name<std::map<int, int, std::greater<int>>>() == "std::map<int, int, std::greater<int>>");
    CHECK(type_name<std::vector<int, allocator_of_mine<int>>>() ==
          "std::vector<int, allocator_of_mine<int>>");
    CHECK(type_name<animals::pack<std::allocator<int>, 1>>() == "animals::pack<std::allocator<int>, 1>");
    CHECK(type_name<std::tuple<int, allocator_of_mine<int>>>() == "std::tuple<int, allocator_of_mine<int>>");
}

TEST_CASE("the name of an integer type is that of the standard") {
    CHECK(type_name<unsigned long>() == "unsigned long");
    CHECK(type_name<long>() == "long");
    CHECK(type_name<unsigned long long>() == "unsigned long long");
    CHECK(type_name<std::vector<unsigned short>>() == "std::vector<unsigned short>");
}

TEST_CASE("the name of a type leaves out unnamed namespaces") {
    CHECK(type_name<hidden>() == "hidden");
    CHECK(type_name<std::vector<hidden>>() == "std::vector<hidden>");
}

TEST_CASE("the name of a type may have functions with several parameters") {
    CHECK(type_name<std::function<int(int, std::string)>>() == "std::function<int(int, std::string)>");
}

#if defined(__cpp_rtti) || defined(_CPPRTTI)
TEST_CASE("a type known at run time has the same name") {
    const derived d;
    const base& b = d;
    CHECK(read_type_name(typeid(b).name()) == "derived");
    CHECK(read_type_name(typeid(std::vector<std::string>).name()) == "std::vector<std::string>");
    CHECK(read_type_name(typeid(std::unique_ptr<animals::cat>).name()) == "std::unique_ptr<animals::cat>");
    CHECK(read_type_name(typeid(std::pair<unsigned long, long long>).name()) ==
          "std::pair<unsigned long, long long>");
}
#endif

TEST_CASE("two objects have the same type only if both types are known to be equal") {
    const derived d, e;
    const base& b = d;
    const base another;
    CHECK(are_one_type(type_of(b), type_of(e)));
    CHECK(are_one_type(nullptr, nullptr));
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    CHECK_FALSE(are_one_type(type_of(b), type_of(another)));
    CHECK_FALSE(are_one_type(type_of(b), nullptr));
    CHECK_FALSE(are_one_type(nullptr, type_of(b)));
#else
    CHECK(are_one_type(type_of(b), type_of(another)));
#endif
}

TEST_CASE("a text that is not the name of a type is read to its end") {
    CHECK(tidy_type_name("").empty());
    CHECK(tidy_type_name("a<b, std::allocator<c") == "a<b");
    CHECK(tidy_type_name("class std::vector<struct a::b,class std::allocator<struct a::b> >") ==
          "std::vector<a::b>");
}
