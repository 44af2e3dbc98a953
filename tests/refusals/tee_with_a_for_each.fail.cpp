// expect-error: weir: the side of a tee has neither source nor sink, and no for_each
// The side of a tee gives something, which is dropped.
// SPDX-License-Identifier: BSL-1.0
#include <weir/graph/tee.hpp>
#include <weir/stages/sink.hpp>

auto part = weir::tee(weir::for_each([](int) {}));

int main() {}
