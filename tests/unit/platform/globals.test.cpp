#include <weir/platform/globals.hpp>

#include "support/catch.hpp"

#include <type_traits>

using weir::detail::no_destroy;

namespace {

int destroyed = 0;
struct counted {
    int value = 7;
    constexpr counted() noexcept = default;
    ~counted() { ++destroyed; }
};

constinit no_destroy<counted> there_already;

}  // namespace

TEST_CASE("a no_destroy object is constant-initialised and never destroyed") {
    CHECK((*there_already).value == 7);
    there_already->value = 8;
    CHECK(there_already->value == 8);
    {
        no_destroy<counted> here;
        CHECK(here->value == 7);
    }
    CHECK(destroyed == 0);
}

namespace {

int one() noexcept { return 1; }
int two() noexcept { return 2; }
using function = int (*)() noexcept;
constinit weir::detail::process_function<function> it{&one};

}  // namespace

TEST_CASE("replacing a process_function returns the previous one") {
    CHECK(it.get()() == 1);
    CHECK(it.replace(&two) == &one);
    CHECK(it.get()() == 2);
    CHECK(it.replace(nullptr) == &two);
    CHECK(it.get() == nullptr);
}
