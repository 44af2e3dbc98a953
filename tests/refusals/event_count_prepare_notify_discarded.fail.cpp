// expect-error: call it, or nobody is woken
// The first half of a notification wakes nobody.
// SPDX-License-Identifier: BSL-1.0
#include <weir/platform/parking.hpp>

void notify(weir::detail::event_count& count) { count.prepare_notify(); }

int main() {}
