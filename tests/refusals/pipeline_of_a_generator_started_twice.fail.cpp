// expect-error: weir: a stage of this pipeline can't be copied
// A generator is good for one run, of a pipeline that is moved into it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>

weir::generator<int> numbers() { co_yield 1; }

int main() {
    weir::virtual_time time;
    auto pipeline = weir::source(numbers()) | weir::sink();
    auto run = pipeline.start(time);
}
