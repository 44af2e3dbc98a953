#include <weir/mpi/wire.hpp>

#include "support/catch.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

using weir::mpi::detail::bytes_of;
using weir::mpi::detail::make_room;
using weir::mpi::detail::packed;
using weir::mpi::detail::sent_as_it_is;
using weir::mpi::detail::sent_t;

namespace {
struct point {
    int x = 1;
    int y = 2;
};
using words = std::map<int, std::string>;
}  // namespace

template <>
struct weir::mpi::wire<words> {
    static std::string pack(const words& w) { return w.at(0); }
    static words unpack(std::string&& s) { return {{0, std::move(s)}}; }
};

TEST_CASE("trivially copyable types and vectors of such are sent as they are") {
    STATIC_REQUIRE(sent_as_it_is<int>);
    STATIC_REQUIRE(sent_as_it_is<point>);
    STATIC_REQUIRE(sent_as_it_is<std::vector<point>>);
    STATIC_REQUIRE(sent_as_it_is<std::string>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<int*>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::vector<std::string>>);
    STATIC_REQUIRE_FALSE(packed<point>);
    STATIC_REQUIRE(std::is_same_v<sent_t<words>, std::string>);
    STATIC_REQUIRE(std::is_same_v<sent_t<point>, point>);
}

TEST_CASE("addresses are not sent as they are, nor are elements that are addresses") {
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::string_view>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::span<const int>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::span<int, 3>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<int point::*>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<void (*)(int)>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::vector<int*>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::vector<std::string_view>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::vector<std::reference_wrapper<int>>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::array<const char*, 2>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::array<std::array<std::u16string_view, 1>, 2>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::optional<int*>>);
    STATIC_REQUIRE_FALSE(sent_as_it_is<std::variant<int, std::string_view>>);
    STATIC_REQUIRE(weir::mpi::detail::has_addresses<std::pair<int, const char*>>);
    STATIC_REQUIRE(weir::mpi::detail::has_addresses<std::tuple<int, std::array<int* const, 2>>>);
    STATIC_REQUIRE(sent_as_it_is<std::array<int, 2>>);
    STATIC_REQUIRE(sent_as_it_is<std::vector<std::array<double, 2>>>);
    STATIC_REQUIRE(sent_as_it_is<std::optional<point>>);
    STATIC_REQUIRE(sent_as_it_is<std::variant<int, point>>);
}

TEST_CASE("the bytes of an item are its memory, and an item has room for the bytes of another") {
    std::vector<point> v(3);
    CHECK(bytes_of(v).data() == reinterpret_cast<const std::byte*>(v.data()));
    CHECK(bytes_of(v).size() == 3 * sizeof(point));
    std::vector<point> other;
    make_room(other, 3 * sizeof(point));
    CHECK(other.size() == 3);
    point p;
    CHECK(bytes_of(p).size() == sizeof(point));
    make_room(p, sizeof(point));
}
