// expect-error: weir: a source's function takes no argument
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/source.hpp>

#include <optional>

auto numbers = weir::source([](int n) { return std::optional<int>(n); });

int main() {}
