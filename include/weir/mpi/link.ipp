// weir mpi, internal: how a link takes messages of other ranks
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_LINK_IPP
#define WEIR_MPI_LINK_IPP

#include <weir/mpi/link.hpp>

namespace weir::mpi::detail {

inline int link::begin(MPI_Request&, bool& again) noexcept {
    for (;;) {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status{};
        const int code =
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle(), &is_there, &message, &status);
        if (code != MPI_SUCCESS) {
            give_up(MPI_ERR_OTHER, "MPI_Improbe", any_rank);
            return MPI_SUCCESS;
        }
        if (is_there == 0) break;
        if (status.MPI_TAG == item_tag) {
            receive(status.MPI_SOURCE, message, elements<std::byte>::count_in(status));
        } else {
            take_note(*peers_[static_cast<std::size_t>(status.MPI_SOURCE)], status.MPI_TAG, message);
        }
    }
    again = !is_over();
    return MPI_SUCCESS;
}

inline void link::take_note(peer& from, int tag, MPI_Message message) noexcept {
    std::uint32_t number = 0;
    MPI_Mrecv(&number, 1, MPI_UINT32_T, &message, MPI_STATUS_IGNORE);
    if (tag == end_tag) {
        from.has_ended = true;
        from.bye_note.send();
        bool all = true;
        for (const peer* const p : producers_) all = all && p->has_ended;
        if (all) all_have_ended();
        return;
    }
    from.credits += number;
    from.has_said_bye = from.has_said_bye || tag == bye_tag;
    from.has_gone = from.has_gone || tag == gone_tag || tag == bye_tag;
    bool all = true;
    for (const peer* const p : consumers_) all = all && p->has_gone;
    if (all) all_have_gone();
    go_on();
}

inline bool link::is_over() const noexcept {
    if (underway_.load(std::memory_order_relaxed) != 1) return false;  // this operation
    for (const peer* const p : producers_) {
        if (!p->has_ended) return false;
    }
    for (const peer* const p : consumers_) {
        if (!p->has_said_bye) return false;
    }
    return true;
}

}  // namespace weir::mpi::detail

#endif
