// expect-error: weir: what measures a channel or a run, or doesn't, is a policy, and this is none
// The second parameter of a channel is no type of anything in it, but a policy.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include <string>

weir::channel<std::string, int> names(4);

int main() {}
