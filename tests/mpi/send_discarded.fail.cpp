// expect-error: co_await this, or nothing is done
// A message is sent when its send is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/communicator.hpp>

void forgets(const weir::mpi::communicator& all, std::span<const int> what) { all.send(what, 1); }

int main() {}
