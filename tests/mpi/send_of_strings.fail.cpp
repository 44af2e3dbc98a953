// expect-error: weir: MPI sends elements byte by byte, so they must be trivially copyable
// A string owns memory elsewhere.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/communicator.hpp>

weir::task<> strings(const weir::mpi::communicator& all, std::span<const std::string> what) {
    co_await all.send(what, 1);
}

int main() {}
