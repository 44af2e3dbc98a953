// expect-error: weir: an aggregator has accumulate(item), which is given what the stage before it gives, and flush(), both of which return a std::optional batch
// An aggregator takes what the stage before it gives.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <optional>
#include <string>

struct joined {
    std::optional<std::string> accumulate(std::string s) { return s; }
    std::optional<std::string> flush() { return std::nullopt; }
};

auto texts = weir::source({1, 2, 3}) | weir::aggregate(joined{}) | weir::sink();

int main() {}
