#include <weir/platform/config.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <string>
#include <typeinfo>
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

TEST_CASE("functions that are never or always inlined behave the same") {
    CHECK(three() + four() == 7);
    int n = 0;
    CHECK(detail::in_register(&n) == &n);
}

TEST_CASE("types have their names as in a program, or none where the compiler doesn't know them") {
    CHECK(std::strstr(detail::signatures::signature_with<animal>(), "animal") != nullptr);
    CHECK(std::strstr(detail::signatures::signature_with<dog>(), "animal") == nullptr);
    CHECK(detail::demangled("no name of a type") == "no name of a type");
}

TEST_CASE("an object's own type is known, or null with -fno-rtti") {
    const dog rex;
    const animal& pet = rex;
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    CHECK(detail::demangled(detail::type_of(pet)->name()).find("dog") != std::string::npos);
    CHECK(detail::demangled(detail::type_of(std::vector<int>())->name()).find("vector<int") !=
          std::string::npos);
#else
    CHECK(detail::type_of(pet) == nullptr);
#endif
}
