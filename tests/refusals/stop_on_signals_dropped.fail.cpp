// expect-error: signals are caught as long as this lives: give it a name
// Nobody would hear of the signals.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/stop_on_signals.hpp>

#include <csignal>

int main() { weir::stop_on_signals{SIGINT}; }
