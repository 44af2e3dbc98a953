// expect-error: weir: wire<T>::pack has to give a trivially copyable type, or a vector of such
// What is packed is sent as it is.
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi/channel.hpp>

#include <list>

struct sample {};
template <>
struct weir::mpi::wire<sample> {
    static std::list<int> pack(const sample&);
    static sample unpack(std::list<int>&&);
};
void close(weir::mpi::channel<sample>& all) { all.close(); }

int main() {}
