#include <weir/executor/executor_users.hpp>

#include "support/catch.hpp"

#include <weir/platform/process.hpp>

#include <optional>
#include <utility>

using weir::detail::end_flag;

TEST_CASE("each copy of an end flag sees the end, also when all others are gone") {
    std::optional<end_flag> of(end_flag::make());
    const end_flag early = *of;
    CHECK_FALSE(early.is_set());
    {
        const end_flag gone = *of;
        CHECK_FALSE(gone.is_set());
    }
    end_flag late;
    late = *of;
    of->set();
    of.reset();
    CHECK(early.is_set());
    CHECK(late.is_set());
    const end_flag moved = std::move(late);
    CHECK(moved.is_set());
    CHECK(end_flag(early).is_set());
}

TEST_CASE("a default end flag is never set, and separate flags are independent") {
    end_flag none;
    none.set();
    CHECK_FALSE(none.is_set());
    end_flag one = end_flag::make();
    const end_flag of_one = one;
    end_flag other = end_flag::make();
    one.set();
    CHECK(of_one.is_set());
    CHECK_FALSE(other.is_set());
    one = other;
    CHECK_FALSE(one.is_set());
    CHECK(of_one.is_set());
}

using weir::detail::executor_user;
using weir::detail::executor_users;

TEST_CASE("an executor may be destroyed once all its users have left, in any order") {
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

TEST_CASE("in a forked process, users of an executor from before the fork are not checked") {
    std::optional<executor_users> users;
    users.emplace();
    users->join(executor_user::run);
    weir::detail::forks.fetch_add(1);  // as if this were the child
    users->abort_if_any(true);
    users.reset();
    weir::detail::forks.fetch_sub(1);
    CHECK_FALSE(users.has_value());
}

TEST_CASE("after a deadlock, users may remain when the executor is destroyed") {
    std::optional<executor_users> users;
    users.emplace();
    users->join(executor_user::task_group);
    users->allow_leftovers();
    users->abort_if_any(true);
    users.reset();
    CHECK_FALSE(users.has_value());
}

TEST_CASE("a thread outside of std::exit is not exiting in a coroutine") {
    CHECK_FALSE(weir::detail::exits_in_a_coroutine());
}
