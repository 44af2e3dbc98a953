// expect-error: weir: a stage of this pipeline can't be copied
// A container of what only moves is good for one run, of a pipeline that is moved into it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <memory>
#include <utility>
#include <vector>

int main() {
    weir::virtual_time time;
    std::vector<std::unique_ptr<int>> boxes(3);
    auto pipeline = weir::source(std::move(boxes)) | weir::sink();
    auto run = pipeline.start(time);
}
