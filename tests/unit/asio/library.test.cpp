#include <weir/asio/library.hpp>

#include "support/catch.hpp"

#include <weir/asio.hpp>

#include <system_error>

TEST_CASE("an error of Asio is one of the standard library") {
    const std::error_code aborted = make_error_code(weir::asio::lib::error::operation_aborted);
    CHECK(aborted.value() == static_cast<int>(std::errc::operation_canceled));
    CHECK_FALSE(aborted.message().empty());
}
