// expect-error: weir: what measures a channel or a run, or doesn't, is a policy, and this is none
// Who names the type of a run says what it gives, and how it measures.
// SPDX-License-Identifier: BSL-1.0
#include <weir/run/run.hpp>

int count(weir::run<int, long>& numbers) { return numbers.get().value_or(0); }

int main() {}
