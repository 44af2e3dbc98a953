// expect-error: weir: a stage of this pipeline can't be copied
// A stage's function that only moves is good for one run, of a pipeline that is moved into it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <memory>

int main() {
    weir::virtual_time time;
    auto plus = [box = std::make_unique<int>(1)](int n) { return n + *box; };
    auto pipeline = weir::source({1, 2}) | weir::pipe(std::move(plus)) | weir::sink();
    auto run = pipeline.start(time);
}
