// expect-error: weir: this item is an address (a pointer, string_view, span or reference_wrapper) or consists of such
// The characters stay on the rank that puts.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/channel.hpp>

#include <string_view>
#include <vector>

using views = weir::mpi::channel<std::vector<std::string_view>>;
void close(views& all) { all.close(); }

int main() {}
