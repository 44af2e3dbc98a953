// expect-error: weir: headspace(pipeline, executor, consumer) takes a pipeline
// It measures a pipeline, and no item.
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight/headspace.hpp>
#include <weir/weir.hpp>

auto measured(weir::executor& ex) {
    return weir::headspace(7, ex, [](int) {});
}

int main() {}
