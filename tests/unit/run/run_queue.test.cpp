#include <weir/run/run_queue.hpp>

#include "support/catch.hpp"

#include <weir/channel/item_size.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

using weir::channel_status;
using weir::detail::any_queue;
using weir::detail::queue_of;
using namespace std::chrono_literals;

namespace {

using queue = queue_of<int, weir::measured>;
const weir::time_point t0{};

class limit final : public weir::detail::byte_budget {
  public:
    using byte_budget::byte_budget;
    void has_room() noexcept override { ++told; }
    int told = 0;
};

}  // namespace

TEST_CASE("who doesn't know the type of its items finds a queue's name, its address and its figures") {
    weir::virtual_time time;
    queue typed(3, time, "decode");
    any_queue& any = typed;
    CHECK(any.name() == "decode");
    CHECK(any.address() == &typed.channel);
    CHECK(&any.place() == &weir::detail::inside(typed.channel));
    CHECK(typed.channel.try_put(1) == channel_status::success);
    const weir::channel_stats stats = any.stats(0);
    CHECK(stats.name == "decode");
    CHECK(stats.capacity == 3);
    CHECK(stats.num_put == 1);
}

TEST_CASE("a queue measures from the beginning of its run, up to the instant that is asked for") {
    weir::virtual_time time;
    queue typed(1, time, "q");
    any_queue& any = typed;
    time.run_until(t0 + 5s);
    any.begin(std::chrono::nanoseconds(2s).count());
    const weir::channel_stats stats = any.stats(std::chrono::nanoseconds(6s).count());
    CHECK(stats.elapsed == 4s);
    CHECK(stats.empty == 4s);
}

TEST_CASE("a queue that is cancelled is empty, and takes nothing any more") {
    weir::virtual_time time;
    queue_of<std::shared_ptr<int>, weir::unmeasured> typed(2, time, "q");
    const auto item = std::make_shared<int>(1);
    auto copy = item;
    CHECK(typed.channel.try_put(std::move(copy)) == channel_status::success);
    CHECK(item.use_count() == 2);
    any_queue& any = typed;
    any.cancel();
    CHECK(item.use_count() == 1);
    CHECK(typed.channel.try_put(std::make_shared<int>(2)) == channel_status::closed);
}

TEST_CASE("a queue's capacity is changed, and one of 0 refused, without its type") {
    weir::virtual_time time;
    queue typed(1, time, "q");
    any_queue& any = typed;
    any.set_capacity(2);
    CHECK(typed.channel.try_put(1) == channel_status::success);
    CHECK(typed.channel.try_put(2) == channel_status::success);
    CHECK(typed.channel.try_put(3) == channel_status::full);
    CHECK_THROWS_AS(any.set_capacity(0), std::invalid_argument);
}

TEST_CASE("what lies in a queue counts for the budget of its run, on behalf of its sources") {
    weir::virtual_time time;
    limit budget(2 * sizeof(int));
    const std::uint64_t one = budget.add_source(), other = budget.add_source();
    queue typed(4, time, "q");
    any_queue& any = typed;
    any.set_budget(&budget, one);
    CHECK(any.sources() == one);
    CHECK(typed.channel.try_put(1) == channel_status::success);
    CHECK(typed.channel.try_put(2) == channel_status::success);
    CHECK(budget.is_spent(one));
    CHECK_FALSE(budget.is_spent(other));
    CHECK(typed.channel.try_get());
    CHECK(budget.told == 1);
    CHECK_FALSE(budget.is_spent(one));
}
