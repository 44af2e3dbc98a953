// expect-error: weir: a source needs a range, a generator, an async_generator, or a function
// A run that gives nothing is no source.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

#include <utility>

int main() {
    weir::virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::for_each([](int) {})).start(time);
    auto wrong = weir::source(std::move(run)) | weir::sink();
}
