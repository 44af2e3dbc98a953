// expect-error: weir: co_yield copies what has a name, and this type can't be copied
// A named object that can't be copied is yielded by std::move.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/generator.hpp>

#include <memory>

weir::generator<std::unique_ptr<int>> boxes() {
    auto box = std::make_unique<int>(1);
    co_yield box;
}

int main() { return **boxes().begin(); }
