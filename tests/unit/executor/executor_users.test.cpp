// What it says, and that it ends the program: tests/programs/fork/outlived.test.cpp.
#include <weir/executor/executor_users.hpp>

#include "support/catch.hpp"

#include <weir/platform/process.hpp>

#include <optional>

using weir::detail::executor_user;
using weir::detail::executor_users;

TEST_CASE("an executor may go when all that used it have gone, in whatever order") {
    std::optional<executor_users> users;
    users.emplace();
    users->abort_if_any();
    users->join(executor_user::run);
    users->join(executor_user::channel);
    users->join(executor_user::run);
    users->leave(executor_user::run);
    users->leave(executor_user::channel);
    users->leave(executor_user::run);
    users->abort_if_any();
    users.reset();
    CHECK_FALSE(users.has_value());
}

TEST_CASE("in a forked process nobody asks what still uses an executor of before") {
    std::optional<executor_users> users;
    users.emplace();
    users->join(executor_user::run);
    weir::detail::forks.fetch_add(1);  // as if this were the child
    users->abort_if_any(true);
    users.reset();
    weir::detail::forks.fetch_sub(1);
    CHECK_FALSE(users.has_value());
}

TEST_CASE("after a deadlock those who wait for ever may be left as they are") {
    std::optional<executor_users> users;
    users.emplace();
    users->join(executor_user::task_group);
    users->excuse();
    users->abort_if_any(true);
    users.reset();
    CHECK_FALSE(users.has_value());
}
