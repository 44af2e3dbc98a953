#include <weir/platform/process.hpp>

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <type_traits>

using weir::detail::no_destroy;
using weir::detail::process_of_origin;
using weir::detail::registered;
using weir::detail::registry;
using weir::detail::registry_kind;

// What happens in a child: tests/programs/fork/fork.test.cpp.
TEST_CASE("an object is in its process of origin until a fork") {
    const process_of_origin here;
    CHECK(weir::detail::forks_are_counted);
    CHECK(here.is_here());
    // As if this were a process that was forked by now.
    weir::detail::forks.fetch_add(1);
    CHECK_FALSE(here.is_here());
    CHECK(process_of_origin().is_here());
    weir::detail::forks.fetch_sub(1);
    CHECK(here.is_here());
}

namespace {

int destroyed = 0;
struct counted {
    int value = 7;
    constexpr counted() noexcept = default;
    ~counted() { ++destroyed; }
};

constinit no_destroy<counted> there_already;

}  // namespace

TEST_CASE("a no_destroy object is constant-initialised and never destroyed") {
    CHECK((*there_already).value == 7);
    there_already->value = 8;
    CHECK(there_already->value == 8);
    {
        no_destroy<counted> here;
        CHECK(here->value == 7);
    }
    CHECK(destroyed == 0);
}

namespace {

int one() noexcept { return 1; }
int two() noexcept { return 2; }
using function = int (*)() noexcept;
constinit weir::detail::process_function<function> it{&one};

}  // namespace

TEST_CASE("replacing a process_function returns the previous one") {
    CHECK(it.get()() == 1);
    CHECK(it.replace(&two) == &one);
    CHECK(it.get()() == 2);
    CHECK(it.replace(nullptr) == &two);
    CHECK(it.get() == nullptr);
}

namespace {

struct site final : registered {
    static constexpr registry_kind registered_as = registry_kind::site;
    explicit site(char c = '?') : registered(registry_kind::site), name(c) {}
    using registered::is_registered;
    using registered::leave_registry;
    char name;
};
struct run final : registered {
    static constexpr registry_kind registered_as = registry_kind::run;
    run() : registered(registry_kind::run) {}
};

std::string sites_of(registry& r) {
    std::string names;
    const registry::reader all(r);
    all.each<site>([&names](const site& p) { names += p.name; });
    std::string again;
    r.each<site>([&again](const site& p) { again += p.name; });
    CHECK(names == again);
    return names;
}

}  // namespace

TEST_CASE("a registry has its sites in the order in which they came") {
    registry r;
    CHECK(sites_of(r).empty());
    site a('a'), b('b'), c('c');
    r.add(b);
    r.add(a);
    CHECK(sites_of(r) == "ba");
    r.add(c);
    CHECK(sites_of(r) == "bac");
    r.remove(a);
    CHECK(sites_of(r) == "bc");
    r.add(a);
    CHECK(sites_of(r) == "bca");
}

TEST_CASE("a destroyed object removes itself, wherever it is in the list") {
    for (int seen = 0; seen < 2; ++seen) {
        for (int goes = 0; goes < 3; ++goes) {
            CAPTURE(seen, goes);
            registry r;
            std::optional<site> sites[3];
            for (int i = 0; i < 3; ++i) r.add(sites[i].emplace(static_cast<char>('a' + i)));
            if (seen == 1) CHECK(sites_of(r) == "abc");
            sites[goes].reset();
            std::string expected = "abc";
            expected.erase(static_cast<std::string::size_type>(goes), 1);
            CHECK(sites_of(r) == expected);
        }
    }
}

TEST_CASE("an object in no registry leaves none") {
    registry r;
    site a('a'), b('b');
    CHECK_FALSE(a.is_registered());
    a.leave_registry();
    r.add(a);
    r.add(b);
    CHECK(a.is_registered());
    a.leave_registry();
    CHECK_FALSE(a.is_registered());
    a.leave_registry();
    CHECK(sites_of(r) == "b");
}

TEST_CASE("after a registry was destroyed, its objects may be added to another one") {
    site a('a'), b('b');
    {
        registry first;
        first.add(a);
        first.add(b);
    }
    CHECK_FALSE(b.is_registered());
    registry second;
    second.add(b);
    CHECK(sites_of(second) == "b");
}

TEST_CASE("a reader visits only the type that it asks for") {
    registry r;
    site a('a'), b('b');
    run one, other;
    r.add(a);
    r.add(one);
    r.add(b);
    r.add(other);
    CHECK(sites_of(r) == "ab");
    int runs = 0;
    r.each<run>([&runs](const run&) { ++runs; });
    CHECK(runs == 2);
}

TEST_CASE("after forget_all a registry is empty, and destroying its former objects changes nothing") {
    registry r;
    site c('c');
    {
        site a('a'), b('b');
        r.add(a);
        r.add(b);
        r.add(c);
        r.forget_all();
        CHECK_FALSE(a.is_registered());
        CHECK(sites_of(r).empty());
        r.add(b);
        CHECK(b.is_registered());
        CHECK(sites_of(r) == "b");
        a.leave_registry();
        CHECK(sites_of(r) == "b");
    }
    CHECK(sites_of(r).empty());
    r.add(c);
    CHECK(sites_of(r) == "c");
}
