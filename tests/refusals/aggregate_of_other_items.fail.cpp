// expect-error: weir: aggregate<Batch> makes its batches of a std::vector of what the stage before it gives, and this Batch can't be made of one
// A batch is made of a std::vector of the items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <string>
#include <vector>

struct labels {
    explicit labels(std::vector<std::string> all);
};

auto batches = weir::source({1, 2, 3}) | weir::aggregate<labels>(2) | weir::sink();

int main() {}
