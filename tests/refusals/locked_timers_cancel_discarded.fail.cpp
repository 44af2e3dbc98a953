// expect-error: true: post the timer's waiter
// Whether a timer was still there is looked at.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/locked_timers.hpp>

void stop(weir::basic_locked_timers<>& timers, weir::timer& t) { timers.cancel(t, {}); }

int main() {}
