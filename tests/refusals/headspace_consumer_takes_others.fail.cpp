// expect-error: weir: headspace calls its consumer with each item of the pipeline
// An int is no string.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

#include <string>

auto measured(weir::executor& ex) {
    return weir::headspace(weir::source({1, 2}) | weir::sink(), ex, [](const std::string&) {});
}

int main() {}
