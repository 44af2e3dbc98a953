// expect-error: weir: an aggregator has accumulate(item), which is given what the stage before it gives, and flush(), both of which return a std::optional batch
// An aggregator of one's own also gives what is left at the end.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <optional>

struct pairs {
    std::optional<int> accumulate(int n) { return n; }
};

auto batches = weir::source({1, 2, 3}) | weir::aggregate(pairs{}) | weir::sink();

int main() {}
