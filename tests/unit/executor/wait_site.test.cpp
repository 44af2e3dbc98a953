#include <weir/executor/wait_site.hpp>

#include "support/catch.hpp"

#include <string>
#include <utility>

using weir::detail::registry;
using weir::detail::wait_site;

namespace {

class site final : public wait_site {
  public:
    explicit site(const char* what, const char* wrong = nullptr) : what_(what), wrong_(wrong) {}
    const char* contradiction() const noexcept override { return wrong_; }
    void inspect(weir::detail::site_seen& seen) const override {
        seen.waiting.push_back({1, weir::detail::wait_kind::turn, what_});
    }

  private:
    const char* what_;
    const char* wrong_;
};

}  // namespace

TEST_CASE("who waits is described in the order in which the sites came") {
    registry r;
    site a("for a"), b("for b");
    r.add(b);
    r.add(a);
    std::string report;
    describe_waiters(r, report);
    CHECK(report == "\n  a coroutine waits for b\n  a coroutine waits for a");
}

TEST_CASE("of sites that contradict themselves the first one says so, with who waits there") {
    registry r;
    site a("for a"), b("for b", "b is wrong"), c("for c", "c is wrong");
    CHECK(contradiction_in(r).empty());
    r.add(a);
    CHECK(contradiction_in(r).empty());
    r.add(b);
    r.add(c);
    CHECK(contradiction_in(r) == "b is wrong\n  a coroutine waits for b");
}

TEST_CASE("no two sites have the same number, also where one takes the place of another") {
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        const site one(""), other("");
        CHECK(one.serial() != 0);
        CHECK(one.serial() != other.serial());
        CHECK(one.serial() > before);
        before = other.serial();
    }
}
