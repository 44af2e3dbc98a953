// expect-error: refused: post the timer's waiter
// Whether a timer was taken is looked at.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/locked_timers.hpp>

void wait(weir::basic_locked_timers<>& timers, weir::timer& t) { timers.add(t); }

int main() {}
