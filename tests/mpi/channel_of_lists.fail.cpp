// expect-error: weir: a channel between ranks sends bytes, and doesn't know those of this item
// The elements of a list are in many places.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/channel.hpp>

#include <list>

using lists = weir::mpi::channel<std::list<int>>;
void close(lists& all) { all.close(); }

int main() {}
