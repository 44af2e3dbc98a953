#include <weir/channel/uninitialised_slot.hpp>

#include "support/catch.hpp"

#include <memory>
#include <optional>
#include <utility>

using weir::detail::uninitialised_slot;

namespace {

// Counts how many of it are alive; moved-from ones are, too.
class guest {
  public:
    static inline int alive = 0;
    explicit guest(int number) noexcept : number_(number) { ++alive; }
    guest(guest&& other) noexcept : number_(std::exchange(other.number_, 0)) { ++alive; }
    guest& operator=(guest&&) = delete;
    ~guest() { --alive; }
    int number() const noexcept { return number_; }

  private:
    int number_;
};

}  // namespace

TEST_CASE("an uninitialised slot makes no item, and destroys none that it wasn't asked to") {
    {
        uninitialised_slot<guest> unused;
        static_cast<void>(unused);
    }
    CHECK(guest::alive == 0);
    {
        uninitialised_slot<guest> place;
        std::construct_at(place.address(), 1);
        CHECK(guest::alive == 1);
    }
    CHECK(guest::alive == 1);
    guest::alive = 0;
}

TEST_CASE("what has landed is taken once, and nothing stays") {
    uninitialised_slot<guest> place;
    std::construct_at(place.address(), 7);
    {
        const std::optional<guest> taken = place.take();
        REQUIRE(taken);
        CHECK(taken->number() == 7);
        CHECK(guest::alive == 1);
    }
    CHECK(guest::alive == 0);
    std::construct_at(place.address(), 8);
    place.destroy();
    CHECK(guest::alive == 0);
}

TEST_CASE("what only moves, and refuses to be asked for its address, lands too") {
    struct shy {
        explicit shy(int n) : box(std::make_unique<int>(n)) {}
        shy* operator&() const { return nullptr; }
        std::unique_ptr<int> box;
    };
    uninitialised_slot<shy> place;
    REQUIRE(place.address() != nullptr);
    std::construct_at(place.address(), 3);
    CHECK(*place.take()->box == 3);
}
