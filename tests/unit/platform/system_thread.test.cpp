#include <weir/platform/system_thread.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <thread>
#include <type_traits>
#include <utility>

using weir::detail::standard_platform;
using weir::detail::system_thread;

// The platform names the type where it has no definition.
static_assert(std::is_same_v<standard_platform::thread, system_thread>);
static_assert(!std::is_copy_constructible_v<system_thread>);

TEST_CASE("a thread of the platform runs what it's given, somewhere else, and can be moved and joined") {
    std::thread::id where;
    system_thread thread([&where](int n) { where = n == 3 ? std::this_thread::get_id() : where; }, 3);
    const std::thread::id name = thread.get_id();
    system_thread moved = std::move(thread);
    moved.join();
    CHECK(where == name);
    CHECK(where != std::this_thread::get_id());
}

TEST_CASE("the platform runs as many threads at once as the hardware, and never none") {
    CHECK(standard_platform::concurrency() == std::max(1U, std::thread::hardware_concurrency()));
}
