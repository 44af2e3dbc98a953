// expect-error: false: post the timer's waiter
// Whether a timer was taken is looked at.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/timer.hpp>

void wait(weir::timer_queue& timers, weir::timer& t) { timers.add(t); }

int main() {}
