#include <weir/platform/process_function.hpp>

#include "support/catch.hpp"

namespace {

int one() noexcept { return 1; }
int two() noexcept { return 2; }
using function = int (*)() noexcept;
constinit weir::detail::process_function<function> it{&one};

}  // namespace

TEST_CASE("it is the first until it is replaced, and who does so is given the one before") {
    CHECK(it.get()() == 1);
    CHECK(it.replace(&two) == &one);
    CHECK(it.get()() == 2);
    CHECK(it.replace(nullptr) == &two);
    CHECK(it.get() == nullptr);
}
