#include <weir/report/metrics_format.hpp>

#include "support/catch.hpp"

TEST_CASE("the content types are those that scrapers ask for") {
    using weir::metrics_format;
    CHECK(weir::metrics_content_type(metrics_format::prometheus) ==
          "text/plain; version=0.0.4; charset=utf-8");
    CHECK(weir::metrics_content_type(metrics_format::openmetrics) ==
          "application/openmetrics-text; version=1.0.0; charset=utf-8");
}
