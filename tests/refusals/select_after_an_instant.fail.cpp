// expect-error: weir: after(duration) takes a duration
// How long a select waits is a duration.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

auto waits(weir::time_point until) { return weir::after(until); }

int main() {}
