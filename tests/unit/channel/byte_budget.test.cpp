#include <weir/channel/byte_budget.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using weir::detail::byte_budget;
using weir::detail::byte_gauge;

namespace {

class told final : public byte_budget {
  public:
    using byte_budget::byte_budget;
    void has_room() noexcept override { ++times; }
    std::atomic<int> times{0};
};

}  // namespace

TEST_CASE("a budget is spent when as many bytes are inside as may be, and says who makes room again") {
    told b(10);
    CHECK_FALSE(b.is_spent());
    b.add(9);
    CHECK_FALSE(b.is_spent());
    b.add(1);
    CHECK(b.is_spent());
    b.add(5);
    CHECK_FALSE(b.remove(3));
    CHECK_FALSE(b.remove(2));
    CHECK(b.is_spent());
    CHECK(b.remove(1));
    CHECK_FALSE(b.is_spent());
    CHECK_FALSE(b.remove(9));
    b.add(10);
    CHECK(b.remove(10));
    CHECK_FALSE(b.remove(0));
    CHECK(b.times == 0);  // whoever removed tells it, when nothing is locked
}

TEST_CASE("a gauge counts if it has a limit or a budget") {
    byte_gauge g;
    CHECK_FALSE(g.counts());
    g.most = 10;
    CHECK(g.counts());
    CHECK(g.has_room_for(10));
    CHECK_FALSE(g.has_room_for(11));
    g.add(4);
    CHECK(g.has_room_for(6));
    CHECK_FALSE(g.has_room_for(7));
    CHECK_FALSE(g.has_room_for(SIZE_MAX));  // no overflow
    g.add(6);
    CHECK_FALSE(g.has_room_for(0));
    CHECK(g.remove(10) == nullptr);
    CHECK(g.bytes == 0);

    told b(5);
    byte_gauge of_run;
    of_run.budget = &b;
    CHECK(of_run.counts());
    of_run.add(7);
    CHECK(b.is_spent());
    CHECK(of_run.remove(1) == nullptr);
    CHECK(of_run.remove(2) == &b);
    CHECK(of_run.remove(4) == nullptr);
    CHECK(of_run.bytes == 0);
}

TEST_CASE("each time that a budget has room again, exactly one of those who made it is told") {
    told b(1'000);
    std::atomic<std::int64_t> freed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&b, &freed, t] {
            for (int i = 0; i < 20'000; ++i) {
                const auto size = static_cast<std::size_t>(100 * t + i % 400);
                b.add(size);
                if (b.remove(size)) ++freed;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    // Nothing is inside, so whenever it was spent it was freed; one more add is not enough to spend it.
    CHECK_FALSE(b.is_spent());
    b.add(999);
    CHECK_FALSE(b.is_spent());
    b.add(1);
    CHECK(b.is_spent());
    CHECK(b.remove(1'000));
}
