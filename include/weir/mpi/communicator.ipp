// weir mpi, internal: the collective operations of several steps
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_COMMUNICATOR_IPP
#define WEIR_MPI_COMMUNICATOR_IPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/group.hpp>
#include <weir/platform/bounds.hpp>

#include <algorithm>  // for std::sort

namespace weir::mpi {

namespace detail {

inline task<std::vector<std::vector<std::byte>>> gather_bytes(communicator of,
                                                              std::span<const std::byte> mine, int root) {
    const std::uint64_t size = mine.size();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(of.size()));
    co_await of.all_gather(std::span(&size, 1), std::span(sizes));
    std::vector<int> counts;
    std::vector<int> places;
    std::size_t sum = 0;
    for (const std::uint64_t n : sizes) {
        counts.push_back(elements<std::byte>(n).count);
        places.push_back(elements<std::byte>(sum).count);
        sum += n;
    }
    static_cast<void>(elements<std::byte>(sum));
    const bool is_root = of.rank() == root;
    std::vector<std::byte> all(is_root ? sum : 0);
    co_await of.request("MPI_Igatherv", [&](MPI_Comm comm, MPI_Request* r) noexcept {
        return MPI_Igatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(),
                            places.data(), MPI_BYTE, root, comm, r);
    });
    std::vector<std::vector<std::byte>> parts;
    for (std::size_t i = 0; is_root && i < sizes.size(); ++i) {
        const auto begin = all.begin() + places[i];
        parts.emplace_back(begin, begin + counts[i]);
    }
    co_return parts;
}

inline task<std::vector<std::byte>> broadcast_bytes(communicator of, std::vector<std::byte> mine, int root) {
    std::uint64_t size = mine.size();
    co_await of.broadcast(std::span(&size, 1), root);
    mine.resize(size);
    constexpr std::size_t most = std::size_t{1} << 30U;
    for (std::size_t at = 0; at < mine.size(); at += most) {
        co_await of.broadcast(std::span(mine).subspan(at, weir::detail::smaller(most, mine.size() - at)),
                              root);
    }
    co_return mine;
}

// MPI_Comm_create_group blocks a thread until all ranks of the new group have called it. That takes long if a
// rank has not come here yet; so the ranks gather the colours first, which blocks no thread.
inline task<communicator> split(communicator of, std::shared_ptr<connection> its, int colour, int key) {
    struct wish {
        int colour;
        int key;
    };
    const wish mine{colour, key};
    std::vector<wish> all(static_cast<std::size_t>(of.size()));
    co_await of.all_gather(std::span(&mine, 1), std::span(all));
    std::vector<int> members;
    for (int r = 0; r < of.size(); ++r) {
        if (all[static_cast<std::size_t>(r)].colour == colour) members.push_back(r);
    }
    std::sort(members.begin(), members.end(), [&](int a, int b) {
        const int key_of_a = all[static_cast<std::size_t>(a)].key;
        const int key_of_b = all[static_cast<std::size_t>(b)].key;
        return key_of_a != key_of_b ? key_of_a < key_of_b : a < b;
    });
    std::shared_ptr<const group> made;
    if (colour == any_rank) co_return communicator();
    co_await of.request("MPI_Comm_create_group", [&](MPI_Comm comm, MPI_Request*) noexcept {
        MPI_Group old = MPI_GROUP_NULL;
        MPI_Group chosen = MPI_GROUP_NULL;
        MPI_Comm handle = MPI_COMM_NULL;
        int code = MPI_Comm_group(comm, &old);
        if (code == MPI_SUCCESS)
            code = MPI_Group_incl(old, static_cast<int>(members.size()), members.data(), &chosen);
        if (code == MPI_SUCCESS) code = MPI_Comm_create_group(comm, chosen, 0, &handle);
        if (code == MPI_SUCCESS) made = std::make_shared<const group>(its, handle);
        if (chosen != MPI_GROUP_NULL) MPI_Group_free(&chosen);
        if (old != MPI_GROUP_NULL) MPI_Group_free(&old);
        return code;
    });
    co_return communicator(std::move(made));
}

}  // namespace detail

inline task<std::vector<std::vector<std::byte>>> communicator::gather_bytes(std::span<const std::byte> mine,
                                                                            int root) const {
    all().check_peer(root);
    return detail::gather_bytes(*this, mine, root);
}
inline task<std::vector<std::byte>> communicator::broadcast_bytes(bytes mine, int root) const {
    all().check_peer(root);
    return detail::broadcast_bytes(*this, std::move(mine), root);
}
inline task<communicator> communicator::split(int colour, int key) const {
    if (colour < any_rank) {
        throw std::invalid_argument("weir: a colour is 0 or more, or any_rank for no group, and this is " +
                                    std::to_string(colour));
    }
    return detail::split(*this, all().its, colour, key);
}
}  // namespace weir::mpi

#endif
