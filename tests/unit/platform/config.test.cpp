#include <weir/platform/config.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace detail = weir::detail;

namespace {

struct animal {
    virtual ~animal() = default;
};
struct dog final : animal {};

WEIR_NOINLINE int three() { return 3; }
WEIR_ALWAYS_INLINE int four() { return 4; }

}  // namespace

TEST_CASE("a function may be kept out of its caller or put into it, and does the same") {
    CHECK(three() + four() == 7);
    int n = 0;
    CHECK(detail::in_register(&n) == &n);
}

TEST_CASE("types have their names as in a program, or none where the compiler doesn't know them") {
    CHECK(std::strstr(detail::signatures::signature_with<animal>(), "animal") != nullptr);
    CHECK(std::strstr(detail::signatures::signature_with<dog>(), "animal") == nullptr);
    CHECK(detail::demangled("no name of a type") == "no name of a type");
}

TEST_CASE("objects have the names of their own types, or none with -fno-rtti") {
    const dog rex, fido;
    const animal cat;
    const animal& pet = rex;
    CHECK(detail::are_of_one_type(pet, static_cast<const animal&>(fido)));
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    CHECK(detail::demangled(detail::name_of_type_of(pet)).find("dog") != std::string::npos);
    CHECK(detail::demangled(detail::name_of_type_of(std::vector<int>())).find("vector<int") !=
          std::string::npos);
    CHECK_FALSE(detail::are_of_one_type(pet, cat));
#else
    CHECK(detail::name_of_type_of(pet) == nullptr);
    CHECK(detail::are_of_one_type(pet, cat));
#endif
}
