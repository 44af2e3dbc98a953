// weir mpi, internal: how a link takes messages of other ranks, and sends its own
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_LINK_IPP
#define WEIR_MPI_LINK_IPP

#include <weir/mpi/link.hpp>

namespace weir::mpi::detail {

inline int link::begin(MPI_Request&, bool& again) noexcept {
    while (!producers_.empty()) {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status{};
        const int code = MPI_Improbe(MPI_ANY_SOURCE, item_tag, comm_.handle(), &is_there, &message, &status);
        if (code != MPI_SUCCESS) return code;
        if (is_there == 0) break;
        int size = 0;
        const int sized = MPI_Get_count(&status, MPI_BYTE, &size);
        if (sized != MPI_SUCCESS) {
            give_up(class_of(sized), "MPI_Get_count", status.MPI_SOURCE);
            return MPI_SUCCESS;
        }
        receive(status.MPI_SOURCE, message, static_cast<std::size_t>(size));
        peer& from = *peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
        ++from.num_received;
        look_for_the_end(from);
    }
    again = !is_over();
    return MPI_SUCCESS;
}

// Sends what can be sent, credit first.
inline void link::go_on() noexcept {
    return_credit();
    if (consumers_.empty() || has_sent_end_) return;
    for (;;) {
        if (is_drained()) return send_ends();
        peer* const to = with_credit();
        if (to == nullptr) {
            if (blocked_since_ == 0 && has_items()) blocked_since_ = now();
            return;
        }
        if (blocked_since_ != 0) counts_.credit_wait += now() - blocked_since_;
        blocked_since_ = 0;
        if (!send_next(to->rank)) break;
        --to->credits;
        ++to->num_sent;
        turn_ = (turn_ + 1) % consumers_.size();
    }
    if (is_drained()) send_ends();
}

// The next consumer in turn that has given credit.
inline link::peer* link::with_credit() noexcept {
    for (std::size_t i = 0; i < consumers_.size(); ++i) {
        peer* const p = consumers_[turn_];
        if (p->credits != 0 && !p->has_gone) return p;
        turn_ = (turn_ + 1) % consumers_.size();
    }
    return nullptr;
}

inline void link::send_ends() noexcept {
    has_sent_end_ = true;
    for (peer* const p : consumers_) p->end_note.send(p->num_sent);
}

inline void link::return_credit() noexcept {
    const bool leaves = is_leaving_.load(std::memory_order_relaxed) && !has_left_;
    has_left_ = has_left_ || leaves;
    for (peer* const p : producers_) {
        if (p->has_ended()) continue;
        if (leaves) p->gone_note.send();
        if (has_left_ || !p->credit_note.is_free()) continue;
        if (p->freed.load(std::memory_order_relaxed) < enough_) continue;  // relaxed: as in got()
        p->credit_note.send(p->freed.exchange(0, std::memory_order_relaxed));
    }
}

inline void link::take(peer& from, const note_text& said) noexcept {
    if (said.is == what::end) {
        from.num_announced = said.number;
        return look_for_the_end(from);
    }
    from.credits += said.number;
    from.has_said_bye = from.has_said_bye || said.is == what::bye;
    from.has_gone = from.has_gone || said.is == what::gone || said.is == what::bye;
    bool all = true;
    for (const peer* const p : consumers_) all = all && p->has_gone;
    if (all) all_have_gone();
    go_on();
}

inline void link::look_for_the_end(peer& of) noexcept {
    if (!of.has_ended()) return;
    of.bye_note.send();
    for (const peer* const p : producers_) {
        if (!p->has_ended()) return;
    }
    all_have_ended();
}

inline bool link::expects_notes() const noexcept {
    for (const peer* const p : producers_) {
        if (p->num_announced == peer::unknown) return true;
    }
    for (const peer* const p : consumers_) {
        if (!p->has_said_bye) return true;
    }
    return false;
}

inline bool link::is_over() const noexcept {
    if (underway_.load(std::memory_order_relaxed) != 1) return false;  // other operations than this one
    for (const peer* const p : producers_) {
        if (!p->has_ended()) return false;
    }
    return !expects_notes();
}

}  // namespace weir::mpi::detail

#endif
