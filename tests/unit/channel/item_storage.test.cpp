#include <weir/channel/item_storage.hpp>

#include "support/catch.hpp"

#include <weir/channel/epoch_item.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using weir::detail::item_type;
using weir::detail::item_type_of;
using weir::detail::nested_destruction;
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

TEST_CASE("an item in an uninitialised slot is taken once, and nothing stays") {
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

TEST_CASE("an uninitialised slot holds move-only items that overload operator &") {
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

TEST_CASE("an item moves, and goes, by its type's functions") {
    const item_type& type = item_type_of<std::shared_ptr<int>>;
    auto from = std::make_shared<int>(7);
    const std::weak_ptr<int> seen = from;
    alignas(std::shared_ptr<int>) unsigned char to[sizeof(std::shared_ptr<int>)];
    type.move(&from, to);
    CHECK(from == nullptr);
    CHECK(seen.use_count() == 1);
    type.destroy(to);
    CHECK(seen.expired());
    auto other = std::make_shared<int>(8);
    const std::weak_ptr<int> other_seen = other;
    alignas(std::shared_ptr<int>) unsigned char between[sizeof(std::shared_ptr<int>)];
    type.move(&other, between);
    type.relocate(between, to);
    CHECK(other_seen.use_count() == 1);
    type.destroy(to);
    CHECK(other_seen.expired());
    CHECK(type.size == sizeof(from));
    CHECK(type.alignment == alignof(std::shared_ptr<int>));
}

TEST_CASE("an item counts for its bytes, with what it came from or without; a mark for none") {
    const std::vector<std::int32_t> item(5);
    CHECK(item_type_of<std::vector<std::int32_t>>.bytes(&item) == 20);
    CHECK(item_type_of<std::vector<std::int32_t>>.is_mark == nullptr);

    using tracked = weir::detail::epoch_item<std::vector<std::int32_t>>;
    const item_type& type = item_type_of<tracked>;
    tracked one(std::vector<std::int32_t>(5), weir::detail::provenance(1));
    const tracked mark = tracked::end_of_epoch(1);
    CHECK(type.bytes(&one) == 20);
    CHECK(type.bytes(&mark) == 0);
    CHECK_FALSE(type.is_mark(&one));
    CHECK(type.is_mark(&mark));
}

namespace {

// With items of one type, which are put as a channel does it.
template <class T>
class ring : public weir::detail::ring {
  public:
    explicit ring(std::size_t capacity) : weir::detail::ring(weir::detail::item_type_of<T>, capacity) {}
    void put(std::uint64_t i, T item) noexcept {
        std::construct_at(this->template at<T>(i), std::move(item));
    }
};

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

// Raw memory for one object, as `take` wants it.
template <class T>
class place {
  public:
    place() noexcept {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {}
    T* address() noexcept { return std::addressof(object_); }
    T out() noexcept {
        T result(std::move(object_));
        std::destroy_at(address());
        return result;
    }

  private:
    union {
        T object_;
    };
};

template <class T>
T take(ring<T>& r, std::uint64_t i) {
    place<T> p;
    r.take(i, p.address());
    return p.out();
}

}  // namespace

TEST_CASE("a ring gives items in the order in which they came, around its end too") {
    for (const std::uint64_t start :
         {std::uint64_t{0}, std::uint64_t{0xffff'fff0}, std::numeric_limits<std::uint64_t>::max() - 100}) {
        CAPTURE(start);
        ring<int> r(3);
        std::deque<int> model;
        std::minstd_rand random(1);
        int next = 0;
        std::uint64_t first = start, last = start;
        for (int i = 0; i < 1'000; ++i) {
            if (model.size() < r.places() && (model.empty() || random() % 2 == 0)) {
                r.put(last++, next + 0);
                model.push_back(next++);
            } else {
                REQUIRE(take(r, first++) == model.front());
                model.pop_front();
            }
            REQUIRE(last - first == model.size());
        }
    }
}

TEST_CASE("a ring has room for what was asked for, and its places are a power of two") {
    CHECK(ring<int>(1).places() == 1);
    CHECK(ring<int>(2).places() == 2);
    CHECK(ring<int>(3).places() == 4);
    CHECK(ring<int>(5).places() == 8);
    CHECK(ring<int>(64).places() == 64);
    CHECK(ring<int>(65).places() == 128);
}

#if !defined(_WIN32)  // Wine takes memory for a table of all pages that are asked for, and is killed
TEST_CASE("a ring for more than there is memory for throws what an allocation throws") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_AS(ring<int>(most), std::bad_alloc);
    CHECK_THROWS_AS(ring<int>(most / 2 + 1), std::bad_alloc);
    CHECK_THROWS_AS(ring<int>(most / 2 + 2), std::bad_alloc);
}

TEST_CASE("a ring for more than there is memory for says what was asked for, and what could be had") {
    constexpr std::size_t most = std::size_t{1} << 60;
    CHECK_THROWS_WITH(ring<int>(most), Catch::Matchers::ContainsSubstring(
                                           "weir: no memory for 1152921504606846976 places of " +
                                           std::to_string(sizeof(int)) + " bytes each in a queue; for ") &&
                                           Catch::Matchers::ContainsSubstring(" there is"));
}
#endif

TEST_CASE("a ring destroys an item when it is taken or destroyed, once, and none by itself") {
    REQUIRE(counted::alive == 0);
    {
        ring<counted> r(4);
        for (int i = 1; i <= 4; ++i) r.put(static_cast<std::uint64_t>(i), counted(i));
        CHECK(counted::alive == 4);
        r.destroy(1);
        CHECK(counted::alive == 3);
        CHECK(take(r, 2).name() == 2);
        CHECK(counted::alive == 2);
        r.put(5, counted(5));
        CHECK(counted::alive == 3);
        CHECK(take(r, 3).name() == 3);
        CHECK(take(r, 4).name() == 4);
        CHECK(take(r, 5).name() == 5);
        CHECK(counted::alive == 0);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("a place in a ring is the same with its type and without, and aligned as its items have to be") {
    struct alignas(64) line {
        char first;
    };
    ring<line> lines(4);
    ring<char> letters(4);
    for (std::uint64_t i = 0; i < 9; ++i) {
        CHECK(lines[i] == lines.at<line>(i));
        CHECK(reinterpret_cast<std::uintptr_t>(lines[i]) % alignof(line) == 0);
        CHECK(letters[i] == letters.at<char>(i));
    }
}

TEST_CASE("a ring holds what can only be moved") {
    ring<std::unique_ptr<int>> r(1);
    r.put(0, std::make_unique<int>(7));
    const std::unique_ptr<int> got = take(r, 0);
    REQUIRE(got);
    CHECK(*got == 7);
}

TEST_CASE("rings swap all that they have, and one may have no place at all") {
    {
        ring<counted> full(2);
        full.put(0, counted(1));
        full.put(1, counted(2));
        full.destroy(0);
        full.put(2, counted(3));
        ring<counted> none(0);
        CHECK(none.places() == 0);
        none.swap(full);
        CHECK(full.places() == 0);
        REQUIRE(none.places() == 2);
        CHECK(take(none, 1).name() == 2);
        CHECK(take(none, 2).name() == 3);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("items move to the places of the same numbers in another ring, wherever they lie") {
    REQUIRE(counted::alive == 0);
    for (std::uint64_t first = 0; first < 20; ++first) {
        for (std::uint64_t size = 0; size <= 5; ++size) {
            ring<counted> small(5);
            ring<counted> large(9);
            for (auto i = first; i != first + size; ++i) small.put(i, counted(static_cast<int>(i)));
            for (auto i = first; i != first + size; ++i) small.move(i, large);
            REQUIRE(counted::alive == static_cast<int>(size));
            small.swap(large);
            for (auto i = first; i != first + size; ++i) {
                REQUIRE(take(small, i).name() == static_cast<int>(i));
            }
            REQUIRE(counted::alive == 0);
        }
    }
}

TEST_CASE("so many places lie in a row as come before the ring's end") {
    const ring<int> four(3);
    CHECK(four.contiguous(0, 3) == 3);
    CHECK(four.contiguous(0, 4) == 4);
    CHECK(four.contiguous(1, 4) == 3);
    CHECK(four.contiguous(7, 4) == 1);
    CHECK(four.contiguous(6, 1) == 1);
    CHECK(four.contiguous(5, 0) == 0);
}

namespace {

// Writes down its number when it goes, and owns the next one.
class chained {
  public:
    chained(int n, int last, std::vector<int>& gone) : n_(n), gone_(&gone) {
        if (n != last) next_ = new chained(n + 1, last, gone);
    }
    chained(const chained&) = delete;
    chained& operator=(const chained&) = delete;
    ~chained() {
        gone_->push_back(n_);
        if (next_ == nullptr) return;
        nested_destruction here;
        if (here.is_deep()) {
            here.put_off(new rest(next_));
        } else {
            delete next_;
        }
    }

  private:
    class rest final : public nested_destruction::rest {
      public:
        explicit rest(chained* it) noexcept : it_(it) {}
        ~rest() override { delete it_; }

      private:
        chained* it_;
    };

    int n_;
    std::vector<int>* gone_;
    chained* next_ = nullptr;
};

}  // namespace

TEST_CASE(
    "objects whose destruction was put off are destroyed once, before the outermost destructor returns") {
    std::vector<int> gone;
    for (int n : {0, 1, 99, 100, 101, 1000}) {
        gone.clear();
        delete new chained(0, n, gone);
        CHECK(gone.size() == static_cast<std::size_t>(n) + 1);
        CHECK(gone.back() == n);
    }
}
