#include <weir/mpi/wire.hpp>

#include "support/catch.hpp"

#include <map>
#include <string>
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
