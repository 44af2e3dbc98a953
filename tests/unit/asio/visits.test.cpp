#include <weir/asio/visits.hpp>

#include "support/catch.hpp"

#include <memory>

#include WEIR_ASIO_FILE(execution_context.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)

namespace lib = weir::asio::lib;
using weir::asio::detail::visit_base;
using weir::asio::detail::visits;

namespace {

class noted final : public visit_base {
  public:
    int dropped = 0;

  private:
    void abandon() noexcept override { ++dropped; }
};

}  // namespace

TEST_CASE("a context that is destroyed drops the visits that have not ended, once each") {
    noted first, second, third, fourth;
    auto io = std::make_unique<lib::io_context>();
    visits& all = lib::use_service<visits>(*io);
    all.begin(first);
    all.begin(second);
    all.begin(third);
    all.end(second);
    all.begin(fourth);
    all.end(fourth);
    CHECK(first.dropped + second.dropped + third.dropped + fourth.dropped == 0);
    io.reset();
    CHECK(first.dropped == 1);
    CHECK(second.dropped == 0);
    CHECK(third.dropped == 1);
    CHECK(fourth.dropped == 0);
}
