#include <weir/executor/errors.hpp>

#include "support/catch.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>

// A copy of an exception that throws ends the program.
static_assert(std::is_nothrow_copy_constructible_v<weir::deadlock_error>);

TEST_CASE("a deadlock_error is a std::runtime_error whose text names the waiters") {
    try {
        throw weir::deadlock_error("weir: deadlock: stage 'a', slot 0 waits");
    } catch (const std::runtime_error& e) {
        CHECK(std::string(e.what()) == "weir: deadlock: stage 'a', slot 0 waits");
    }
}

// A copy of an exception that throws ends the program.
static_assert(std::is_nothrow_copy_constructible_v<weir::forked_error>);

// When it is thrown: programs/fork/fork.test.cpp.
TEST_CASE("a forked_error says what is wrong and what to do") {
    try {
        throw weir::forked_error();
    } catch (const std::runtime_error& e) {
        CHECK(std::string(e.what()) ==
              "weir: this process was forked from one whose pool's threads it doesn't have; "
              "exec, or make pools after the fork");
    }
}
