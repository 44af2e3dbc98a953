#include <weir/detail/ring.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <utility>

using weir::detail::ring;

namespace {

// Counts how many of it live, and may be there once only: it can be moved, and then is nobody.
class counted {
  public:
    static inline int alive = 0;
    explicit counted(int name) noexcept : name_(name) { ++alive; }
    counted(counted&& other) noexcept : name_(std::exchange(other.name_, 0)) { ++alive; }
    counted& operator=(counted&&) = delete;
    ~counted() { --alive; }
    int name() const noexcept { return name_; }

  private:
    int name_;
};

}  // namespace

TEST_CASE("a ring gives items in the order in which they came, around its end too") {
    ring<int> r(3);
    std::deque<int> model;
    std::minstd_rand random(1);
    int next = 0;
    for (int i = 0; i < 1'000; ++i) {
        if (model.size() < r.places() && (model.empty() || random() % 2 == 0)) {
            r.push(next + 0);
            model.push_back(next++);
        } else {
            REQUIRE(r.front() == model.front());
            r.pop();
            model.pop_front();
        }
        REQUIRE(r.size() == model.size());
    }
    CHECK(r.places() == 3);
}

TEST_CASE("a ring destroys each item once: at pop, or with itself") {
    REQUIRE(counted::alive == 0);
    {
        ring<counted> r(4);
        for (int i = 1; i <= 4; ++i) r.push(counted(i));
        CHECK(counted::alive == 4);
        r.pop();
        r.pop();
        CHECK(counted::alive == 2);
        r.push(counted(5));
        CHECK(r.front().name() == 3);
        CHECK(counted::alive == 3);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("a ring holds what can only be moved") {
    ring<std::unique_ptr<int>> r(1);
    r.push(std::make_unique<int>(7));
    const std::unique_ptr<int> got = std::move(r.front());
    r.pop();
    CHECK(*got == 7);
    CHECK(r.size() == 0);
}

TEST_CASE("rings swap all that they have, and one may have no place at all") {
    {
        ring<counted> full(2);
        full.push(counted(1));
        full.push(counted(2));
        full.pop();
        full.push(counted(3));
        ring<counted> none(0);
        CHECK(none.places() == 0);
        CHECK(none.size() == 0);
        none.swap(full);
        CHECK(full.places() == 0);
        CHECK(full.size() == 0);
        REQUIRE(none.size() == 2);
        CHECK(none.front().name() == 2);
        none.pop();
        CHECK(none.front().name() == 3);
    }
    CHECK(counted::alive == 0);
}
