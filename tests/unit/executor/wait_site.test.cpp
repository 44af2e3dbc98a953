#include <weir/executor/wait_site.hpp>

#include "support/catch.hpp"

#include <cstdint>

namespace {

class site final : public weir::detail::wait_site {
  public:
    const char* contradiction() const noexcept override { return nullptr; }
    void inspect(weir::detail::site_seen&) const override {}
};

}  // namespace

TEST_CASE("no two sites have the same number, also where one takes the place of another") {
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        const site one, other;
        CHECK(one.serial() != 0);
        CHECK(one.serial() != other.serial());
        CHECK(one.serial() > before);
        before = other.serial();
    }
}
