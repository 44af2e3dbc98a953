// expect-error: weir: on_get(channel) takes from a weir::channel with a name
// A get changes the channel.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/select.hpp>
#include <weir/task/task.hpp>

auto takes(const weir::channel<int>& a) { return weir::on_get(a); }

int main() {}
