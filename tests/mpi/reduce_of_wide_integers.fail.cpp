// expect-error: weir: MPI reduces integers of at most 64 bits, float, double and long double
// With GNU extensions __int128 is arithmetic.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/communicator.hpp>

__extension__ using wide = __int128;

weir::task<> sum(const weir::mpi::communicator& all, std::span<wide> both) {
    co_await all.all_reduce(both, weir::mpi::reduction::sum);
}

int main() {}
