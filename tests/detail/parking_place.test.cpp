#include <weir/detail/parking_place.hpp>

#include "support/catch.hpp"

#include <optional>
#include <string>

using weir::detail::parking_place;
using weir::detail::parking_registry;

namespace {

class place final : public parking_place {
  public:
    explicit place(std::string name) : name_(std::move(name)) {}
    const char* contradiction() const noexcept override { return nullptr; }
    void look(weir::detail::place_seen& seen) const override {
        seen.waiting.push_back({1, weir::detail::wait_kind::turn, name_.c_str()});
    }

  private:
    std::string name_;
};

std::string report_of(parking_registry& r) {
    std::string report;
    parking_registry::reader(r).each([&report](const parking_place& p) {
        weir::detail::place_seen seen;
        p.look(seen);
        report += seen.waiting.front().what;
    });
    return report;
}

}  // namespace

TEST_CASE("a registry describes its places in the order in which they came") {
    parking_registry r;
    CHECK(report_of(r).empty());
    place a("a"), b("b"), c("c");
    r.add(b);
    r.add(a);
    r.add(c);
    CHECK(report_of(r) == "bac");
    r.remove(a);
    CHECK(report_of(r) == "bc");
    r.add(a);
    CHECK(report_of(r) == "bca");
}

TEST_CASE("a place that goes takes itself out, from wherever it is") {
    for (int goes = 0; goes < 3; ++goes) {
        CAPTURE(goes);
        parking_registry r;
        std::optional<place> places[3];
        for (int i = 0; i < 3; ++i) r.add(places[i].emplace(std::string(1, static_cast<char>('a' + i))));
        places[goes].reset();
        std::string expected = "abc";
        expected.erase(static_cast<std::string::size_type>(goes), 1);
        CHECK(report_of(r) == expected);
    }
}

TEST_CASE("a registry that goes lets its places go, and another one may take them") {
    place a("a"), b("b");
    {
        parking_registry first;
        first.add(a);
        first.add(b);
    }
    parking_registry second;
    second.add(b);
    CHECK(report_of(second) == "b");
}
