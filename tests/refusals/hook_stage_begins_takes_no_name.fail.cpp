// expect-error: weir: this hook has a member that is named as one of weir::hook's and takes something else
// `stage_begins` is told of the stage.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/invocation.hpp>
#include <weir/run/stage_options.hpp>

#include <memory>

// Compilers warn of it, if they are asked to.
#pragma GCC diagnostic ignored "-Woverloaded-virtual"

struct mine : weir::hook {
    void stage_begins() const {}
};

weir::run_options options{.hooks = {std::make_shared<mine>()}};

int main() {}
