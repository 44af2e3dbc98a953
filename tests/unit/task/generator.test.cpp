#include <weir/task/generator.hpp>

#include "support/catch.hpp"

#include <concepts>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using weir::generator;

namespace {

template <class G>
using reference_of = decltype(*std::declval<G&>().begin());

static_assert(std::ranges::input_range<generator<int>>);
static_assert(!std::ranges::forward_range<generator<int>>);
static_assert(std::ranges::view<generator<int>>);
static_assert(std::ranges::view<generator<const std::string&>>);
static_assert(std::ranges::input_range<generator<std::unique_ptr<int>>>);
static_assert(std::ranges::input_range<generator<const std::string&>>);
static_assert(std::sentinel_for<std::default_sentinel_t, generator<int>::iterator>);
static_assert(!std::is_copy_constructible_v<generator<int>>);
static_assert(std::is_nothrow_move_constructible_v<generator<int>>);
static_assert(!std::is_copy_constructible_v<generator<int>::iterator>);
static_assert(std::same_as<reference_of<generator<int>>, int&&>);
static_assert(std::same_as<reference_of<generator<int&>>, int&>);
static_assert(std::same_as<reference_of<generator<const int&>>, const int&>);
static_assert(std::same_as<std::ranges::range_value_t<generator<const int&>>, int>);

struct counted {
    static inline int alive = 0;
    static inline int copies = 0;
    static inline int moves = 0;
    int value;
    explicit counted(int v) : value(v) { ++alive; }
    counted(const counted& o) : value(o.value) { ++alive, ++copies; }
    counted(counted&& o) noexcept : value(std::exchange(o.value, -1)) { ++alive, ++moves; }
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    static void reset() { copies = moves = 0; }
};

generator<int> up_to(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}

generator<std::string> words(std::string prefix) {
    co_yield prefix + " one, too long for the small buffer";
    co_yield "two, a literal";
    co_yield prefix;  // copied: the body still has it
    co_yield prefix + std::string("!");
}

generator<std::unique_ptr<int>> boxes(int n) {
    for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
}

generator<counted> fresh(int n) {
    for (int i = 0; i < n; ++i) co_yield counted(i);
}

generator<counted> named(int n) {
    for (int i = 0; i < n; ++i) {
        counted c(i);
        co_yield c;
        if (c.value != i) throw std::logic_error("the body's own object changed");
        co_yield std::move(c);
    }
}

generator<int&> each(std::vector<int>& v) {
    for (int& x : v) co_yield x;
}

generator<const std::string&> views(const std::vector<std::string>& v) {
    for (const std::string& s : v) co_yield s;
    co_yield "a temporary";
}

struct shape {
    virtual ~shape() = default;
    virtual int sides() const = 0;
};
struct square : shape {
    int sides() const override { return 4; }
};
generator<const shape&> shapes() {
    const square s;
    co_yield s;
    co_yield square();
}

generator<int> fails_after(int n) {
    const counted guard(0);
    for (int i = 0; i < n; ++i) co_yield i;
    throw std::runtime_error("the body failed");
}

std::vector<int> all_of(generator<int> g) {
    std::vector<int> v;
    for (const int i : g) v.push_back(i);
    return v;
}

}  // namespace

TEST_CASE("a loop gets the items of a generator one by one") {
    CHECK(all_of(up_to(4)) == std::vector<int>{0, 1, 2, 3});
    CHECK(all_of(up_to(0)).empty());
}

TEST_CASE("a generator runs only when its iterator advances") {
    int reached = 0;
    const auto body = [](int& place) -> generator<int> {
        place = 1;
        co_yield 10;
        place = 2;
        co_yield 20;
        place = 3;
    };
    generator<int> g = body(reached);
    CHECK(reached == 0);
    auto it = g.begin();
    CHECK(reached == 1);
    CHECK(*it == 10);
    ++it;
    CHECK(reached == 2);
    CHECK(*it == 20);
    CHECK(it != g.end());
    it++;
    CHECK(reached == 3);
    CHECK(it == g.end());
}

TEST_CASE("a generator that is destroyed early destroys the local variables of its body") {
    counted::reset();
    {
        generator<counted> g = fresh(100);
        for (const counted& c : g) {
            if (c.value == 2) break;
        }
        CHECK(counted::alive == 1);
    }
    CHECK(counted::alive == 0);
    {
        const generator<int> never_started = fails_after(1);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("a generator's items can be moved out of it") {
    int sum = 0;
    for (std::unique_ptr<int> p : boxes(5)) sum += *p;
    CHECK(sum == 10);
    std::vector<std::string> v;
    for (std::string&& s : words("word")) v.push_back(std::move(s));
    CHECK(v == std::vector<std::string>{"word one, too long for the small buffer", "two, a literal", "word",
                                        "word!"});
}

TEST_CASE("a yielded temporary is neither copied nor moved, a yielded lvalue is copied") {
    counted::reset();
    int sum = 0;
    for (const counted& c : fresh(5)) sum += c.value;
    CHECK(sum == 10);
    CHECK(counted::copies == 0);
    CHECK(counted::moves == 0);
    for (counted&& c : named(3)) {
        const counted taken = std::move(c);
        sum += taken.value;
    }
    CHECK(sum == 16);
    CHECK(counted::copies == 3);
    CHECK(counted::moves == 6);
    CHECK(counted::alive == 0);
}

TEST_CASE("a yielded aggregate lvalue is moved or copied, and destroyed once") {
    struct parcel {
        std::shared_ptr<int> alive;
        int weight;
    };
    const auto pack = [](std::shared_ptr<int> alive) -> generator<parcel> {
        parcel first{alive, 1};
        co_yield std::move(first);
        parcel second{std::move(alive), 2};
        co_yield second;
        second.weight = 3;
        co_yield std::move(second);
    };
    const auto alive = std::make_shared<int>(7);
    int weights = 0;
    for (parcel p : pack(alive)) weights = weights * 10 + p.weight + (p.alive == alive ? 0 : 100);
    CHECK(weights == 123);
    CHECK(alive.use_count() == 1);
}

TEST_CASE("a generator of references yields the objects themselves") {
    std::vector<int> v{1, 2, 3};
    for (int& x : each(v)) x *= 10;
    CHECK(v == std::vector<int>{10, 20, 30});
    const std::vector<std::string> names{"a", "b"};
    std::string joined;
    for (const std::string& s : views(names)) joined += s + ";";
    CHECK(joined == "a;b;a temporary;");
    int sides = 0;
    for (const shape& s : shapes()) sides += s.sides();
    CHECK(sides == 8);
}

TEST_CASE("an exception of a generator's body before its first item is thrown by begin") {
    generator<int> g = fails_after(0);
    CHECK_THROWS_AS(g.begin(), std::runtime_error);
    CHECK(g.begin() == g.end());
    CHECK(counted::alive == 0);
}

TEST_CASE("an exception of a generator's body is thrown by the increment, and ends the range") {
    generator<int> g = fails_after(2);
    auto it = g.begin();
    ++it;
    CHECK(*it == 1);
    CHECK_THROWS_AS(++it, std::runtime_error);
    CHECK(it == g.end());
    CHECK(g.begin() == g.end());
    CHECK(counted::alive == 0);
}

TEST_CASE("a second loop continues where the first one left the generator") {
    generator<int> g = up_to(5);
    for (const int i : g) {
        if (i == 2) break;
    }
    std::vector<int> rest;
    for (const int i : g) rest.push_back(i);
    CHECK(rest == std::vector<int>{2, 3, 4});
}

TEST_CASE("a generator can be moved, also between two items") {
    generator<int> a = up_to(3);
    CHECK(*a.begin() == 0);
    generator<int> b = std::move(a);
    CHECK(a.begin() == a.end());  // NOLINT(bugprone-use-after-move): that is the test
    a = std::move(b);
    CHECK(all_of(std::move(a)) == std::vector<int>{0, 1, 2});
    generator<int> none;
    CHECK(none.begin() == none.end());
}

TEST_CASE("a generator works with the algorithms of ranges") {
    generator<int> g = up_to(5);
    int sum = 0;
    std::ranges::for_each(g, [&sum](int i) { sum += i; });
    CHECK(sum == 10);
}

TEST_CASE("a generator consumes another generator") {
    const auto doubled = [](generator<int> in) -> generator<int> {
        for (const int i : in) co_yield 2 * i;
    };
    CHECK(all_of(doubled(up_to(3))) == std::vector<int>{0, 2, 4});
    generator<int> failing = doubled(fails_after(1));
    auto it = failing.begin();
    CHECK_THROWS_AS(++it, std::runtime_error);
}

TEST_CASE("a generator uses no stack for each item") {
    long long sum = 0;
    for (const int i : up_to(1'000'000)) sum += i;
    CHECK(sum == 499'999'500'000);
}
