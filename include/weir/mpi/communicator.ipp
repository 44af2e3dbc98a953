// weir mpi, internal: the collective operations that take several calls of MPI
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_COMMUNICATOR_IPP
#define WEIR_MPI_COMMUNICATOR_IPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::sort
#include <exception>  // for std::current_exception, std::exception_ptr, std::rethrow_exception

namespace weir::mpi {

namespace detail {

inline task<std::vector<std::vector<std::byte>>> gather_bytes(communicator of,
                                                              std::span<const std::byte> mine, int root) {
    struct memory {
        std::vector<std::uint64_t> size;
        std::vector<std::uint64_t> sizes;
        std::vector<int> counts;
        std::vector<int> offsets;
        std::vector<std::byte> all;
    };
    leaked_on_failure<memory> shared(of);
    shared->size.push_back(mine.size());
    shared->sizes.resize(static_cast<std::size_t>(of.size()));
    co_await of.all_gather(std::span<const std::uint64_t>(shared->size), std::span(shared->sizes));
    std::size_t sum = 0;
    for (const std::uint64_t n : shared->sizes) {
        shared->counts.push_back(elements<std::byte>(n).count);
        shared->offsets.push_back(elements<std::byte>(sum).count);
        sum += n;
    }
    static_cast<void>(elements<std::byte>(sum));  // throws if the sum is too large
    const bool is_root = of.rank() == root;
    shared->all.resize(is_root ? sum : 0);
    co_await of.request("MPI_Igatherv", [&](MPI_Comm comm, MPI_Request* r) noexcept {
        return MPI_Igatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, shared->all.data(),
                            shared->counts.data(), shared->offsets.data(), MPI_BYTE, root, comm, r);
    });
    std::vector<std::vector<std::byte>> parts;
    for (std::size_t i = 0; is_root && i < shared->sizes.size(); ++i) {
        const auto begin = shared->all.begin() + shared->offsets[i];
        parts.emplace_back(begin, begin + shared->counts[i]);
    }
    co_return parts;
}

inline task<std::vector<std::byte>> broadcast_bytes(communicator of, std::vector<std::byte> mine, int root) {
    leaked_on_failure<std::uint64_t> size(of, mine.size());
    co_await of.broadcast(std::span(&*size, 1), root);
    leaked_on_failure<std::vector<std::byte>> all(of, std::move(mine));
    all->resize(*size);
    constexpr std::size_t most = std::size_t{1} << 30U;  // of one broadcast: MPI counts by int
    for (std::size_t at = 0; at < all->size(); at += most) {
        co_await of.broadcast(std::span(*all).subspan(at, weir::detail::smaller(most, all->size() - at)),
                              root);
    }
    co_return std::move(*all);
}

// Makes a communicator of MPI. Its ranks are the ranks `members` of `of`, in this order. Called on a thread
// that may call MPI. Blocks until all members have called make_comm(). Errors: `error` of the MPI function
// that failed; `std::bad_alloc`.
inline std::shared_ptr<const owned_comm> make_comm(const owned_comm& of, const std::vector<int>& members) {
    struct mpi_group {
        mpi_group() = default;
        mpi_group(const mpi_group&) = delete;
        mpi_group& operator=(const mpi_group&) = delete;
        ~mpi_group() {
            if (handle != MPI_GROUP_NULL) MPI_Group_free(&handle);
        }
        MPI_Group handle = MPI_GROUP_NULL;
    };
    mpi_group all;
    mpi_group chosen;
    MPI_Comm made = MPI_COMM_NULL;
    check_call(MPI_Comm_group(of.comm, &all.handle), "MPI_Comm_group");
    check_call(MPI_Group_incl(all.handle, static_cast<int>(members.size()), members.data(), &chosen.handle),
               "MPI_Group_incl");
    check_call(MPI_Comm_create_group(of.comm, chosen.handle, 0, &made), "MPI_Comm_create_group");
    return owned_comm::make(of.loop, made, of.turns);
}

// MPI_Comm_create_group blocks a thread until all ranks of the new group have called this function: for a
// long time, if a rank is late. So the ranks of `of` first exchange their colours and keys, and each proposes
// a number for this creation of communicators: the greatest is taken. Then they wait until each of them has
// approved the creation. A rank approves one creation at a time, that with the lowest number: see
// `creation_turns`. Both steps block no thread. `parent`: the owner of the MPI communicator of `of`.
inline task<communicator> split(communicator of, const owned_comm& parent, int colour, int key) {
    struct choice {
        int colour;
        int key;
        std::uint64_t number;
    };
    leaked_on_failure<choice> mine(of, choice{colour, key, parent.turns->propose()});
    leaked_on_failure<std::vector<choice>> choices(of,
                                                   std::vector<choice>(static_cast<std::size_t>(of.size())));
    co_await of.all_gather(std::span<const choice>(&*mine, 1), std::span(*choices));
    const std::vector<choice>& all = *choices;
    std::vector<int> members;
    std::uint64_t number = 0;
    for (int r = 0; r < of.size(); ++r) {
        const choice& each = all[static_cast<std::size_t>(r)];
        if (each.colour == colour) members.push_back(r);
        number = weir::detail::larger(number, each.number);
    }
    std::sort(members.begin(), members.end(), [&](int a, int b) {
        const int key_of_a = all[static_cast<std::size_t>(a)].key;
        const int key_of_b = all[static_cast<std::size_t>(b)].key;
        return key_of_a != key_of_b ? key_of_a < key_of_b : a < b;
    });
    creation_turns::turn turn(*parent.turns, number);
    leaked_on_failure<int> is_approved(of);
    while (true) {
        *is_approved = turn.approve() ? 1 : 0;
        co_await of.all_reduce(std::span(&*is_approved, 1), reduction::smallest);
        if (*is_approved != 0) break;
        turn.withdraw();
    }
    if (colour == any_rank) co_return communicator();
    std::shared_ptr<const owned_comm> made;
    std::exception_ptr wrong;
    co_await of.request("MPI_Comm_create_group", [&](MPI_Comm, MPI_Request*) noexcept {
        try {
            made = make_comm(parent, members);
        } catch (...) {
            wrong = std::current_exception();
        }
        return MPI_SUCCESS;
    });
    if (wrong) std::rethrow_exception(wrong);
    co_return communicator(std::move(made));
}

}  // namespace detail

inline task<std::vector<std::vector<std::byte>>> communicator::gather_bytes(std::span<const std::byte> mine,
                                                                            int root) const {
    owned().check_peer(root);
    return detail::gather_bytes(*this, mine, root);
}
inline task<std::vector<std::byte>> communicator::broadcast_bytes(bytes mine, int root) const {
    owned().check_peer(root);
    return detail::broadcast_bytes(*this, std::move(mine), root);
}
inline task<communicator> communicator::split(int colour, int key) const {
    if (colour < any_rank) {
        throw std::invalid_argument("weir: a colour is 0 or more, or any_rank for no group, and this is " +
                                    std::to_string(colour));
    }
    return detail::split(*this, owned(), colour, key);
}
}  // namespace weir::mpi

#endif
