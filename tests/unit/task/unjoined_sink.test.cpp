#include <weir/task/unjoined_sink.hpp>

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

using weir::sync_wait;
using weir::task;
using weir::task_group;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> heard;

// Hears what nobody joins, for as long as it lives.
class listener {
  public:
    listener() { heard.clear(); }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { weir::set_unjoined_sink(before_); }

  private:
    static void hear(const std::exception_ptr& first, std::size_t count) noexcept {
        try {
            std::rethrow_exception(first);
        } catch (const std::exception& e) {
            heard.push_back(std::to_string(count) + ": " + e.what());
        }
    }
    const weir::unjoined_sink before_ = weir::set_unjoined_sink(&hear);
};

task<> fails(std::string why, weir::duration after) {
    co_await weir::sleep_for(after);
    throw std::runtime_error(why);
}

}  // namespace

TEST_CASE("a group that nobody joins tells the exceptions of its tasks, the first that ended and how many") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn(fails("late", 2ms));
        group.spawn(fails("early", 1ms));
        group.spawn([]() -> task<> { co_return; }());
        CHECK(heard.empty());
    }
    CHECK(heard == std::vector<std::string>{"2: early"});
}

TEST_CASE("a group that was joined tells nothing, and what is spawned later is told again") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn(fails("joined", 1ms));
        CHECK_THROWS_WITH(sync_wait(time, [](task_group& g) -> task<> { co_await g.join(); }(group)),
                          "joined");
        CHECK(heard.empty());
        group.spawn(fails("later", 1ms));
    }
    CHECK(heard == std::vector<std::string>{"1: later"});
}

TEST_CASE("what passes between spawn and join hides no exception of a task") {
    const listener told;
    weir::thread_pool pool(2);
    try {
        task_group group(pool);
        group.spawn(fails("of a task", 0ms));
        throw std::logic_error("of the caller");
    } catch (const std::logic_error&) {
        CHECK(heard == std::vector<std::string>{"1: of a task"});
    }
}

TEST_CASE("without a sink nobody is told, and a task that ended well is never told") {
    const listener told;
    virtual_time time;
    {
        task_group group(time);
        group.spawn([]() -> task<> { co_return; }());
    }
    CHECK(heard.empty());
    const weir::unjoined_sink before = weir::set_unjoined_sink(nullptr);
    {
        task_group group(time);
        group.spawn(fails("unheard", 1ms));
    }
    CHECK(heard.empty());
    CHECK(weir::set_unjoined_sink(before) == nullptr);
}
