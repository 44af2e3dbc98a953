// expect-error: weir: a stage of this pipeline can't be copied
// What only moves, in an input of a merge, is good for one run.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>

#include <memory>
#include <vector>

void start(weir::virtual_time& time) {
    const auto pipeline = weir::merge(weir::source(std::vector<std::unique_ptr<int>>()),
                                      weir::source(std::vector<std::unique_ptr<int>>())) |
                          weir::sink();
    auto run = pipeline.start(time);
}

int main() {}
