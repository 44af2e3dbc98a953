// weir mpi, internal: how the ranks plan a channel; how a link (a rank's part of it) sends and takes messages
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_LINK_IPP
#define WEIR_MPI_LINK_IPP

#include <weir/mpi/link.hpp>

#include <weir/task/detached_task.hpp>
#include <weir/task/external_wait.hpp>

#include <algorithm>  // for std::ranges::all_of
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument

namespace weir::mpi::detail {

inline task<channel_plan> plan_channel(communicator of, bool puts, bool gets, std::size_t capacity) {
    // 0 stands for a capacity that takes more than 32 bits: all ranks refuse 0.
    const bool fits = capacity <= std::uint32_t(-1);
    const role mine{puts, gets, fits ? static_cast<std::uint32_t>(capacity) : 0U};
    channel_plan plan;
    plan.of = co_await of.duplicate();
    leaked_on_failure<role> given(of, mine);
    leaked_on_failure<std::vector<role>> roles(of, std::vector<role>(static_cast<std::size_t>(of.size())));
    co_await of.all_gather(std::span<const role>(&*given, 1), std::span(*roles));
    plan.roles = *roles;
    bool has_producer = false;
    bool has_consumer = false;
    bool has_room = true;
    for (const role& r : plan.roles) {
        has_producer = has_producer || r.puts;
        has_consumer = has_consumer || r.gets;
        has_room = has_room && r.capacity != 0;
    }
    if (!has_producer || !has_consumer || !has_room) {
        throw std::invalid_argument(
            "weir: a channel between ranks needs a rank that puts, a rank that gets, "
            "and on each a capacity from 1 to 4294967295");
    }
    co_return plan;
}

inline link::link(channel_plan plan, executor& clock)
    : operation("MPI_Improbe", any_rank, true), comm_(std::move(plan.of)), loop_(comm_.owned().loop),
      clock_(clock) {
    const role& mine = plan.roles[static_cast<std::size_t>(comm_.rank())];
    for (const role& r : plan.roles) {
        peers_.push_back(std::make_unique<peer>(*this, static_cast<int>(peers_.size()), r));
        if (mine.puts && r.gets) consumers_.push_back(peers_.back().get());
        if (mine.gets && r.puts) producers_.push_back(peers_.back().get());
    }
    capacity_ = mine.capacity;
    credit_batch_ = weir::detail::larger(mine.capacity / 2, std::uint32_t{1});
}

inline void link::wait_for_all() noexcept {
    const external_wait until_all;  // other ranks end this wait: that is no deadlock
    try {
        // Other ranks may wait for coroutines of this thread, or of a pool whose thread this is.
        if (loop_->has_guard()) weir::detail::block_until(finished_, clock_);
    } catch (...) {  // the executor runs nothing more, as virtual_time in a deadlock: this thread sleeps
    }
    while (!is_finished()) loop_->wait(finished_);
    // A kick may not have ended yet. relaxed: locked(), below, orders what follows
    while (underway_.load(std::memory_order_relaxed) != 0) static_cast<void>(loop_->poll());
    loop_->locked([]() noexcept {});
}

inline int link::begin(MPI_Request&, bool& again) noexcept {
    // At most half of the room at once (all of it if the capacity is 1): this consumer returns the credit of
    // the first half while producers send the second half.
    const std::size_t most = credit_batch_ * producers_.size();
    for (std::size_t i = 0; i < most; ++i) {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status{};
        const int code = MPI_Improbe(MPI_ANY_SOURCE, item_tag, comm_.handle(), &is_there, &message, &status);
        if (code != MPI_SUCCESS) return code;
        if (is_there == 0) break;
        int size = 0;
        const int sized = MPI_Get_count(&status, MPI_BYTE, &size);
        if (sized != MPI_SUCCESS) {
            report_error(class_of(sized), "MPI_Get_count", status.MPI_SOURCE);
            return MPI_SUCCESS;
        }
        receive(status.MPI_SOURCE, message, static_cast<std::size_t>(size));
        peer& from = *peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
        ++from.num_received;
        check_end(from);
    }
    again = !is_over();
    return MPI_SUCCESS;
}

// The link itself is over: it receives no more items.
inline void link::ended() noexcept {
    has_stopped_ = true;
    end_credit_wait();
    if (error_class() != MPI_SUCCESS) report_error(error_class(), call(), any_rank);
    if (is_cancelled() || loop_->failure() != nullptr) failed();
    operation_ended();
}

// Sends what can be sent, credit first.
inline void link::send_pending() noexcept {
    return_credit();
    if (consumers_.empty() || has_sent_end_) return;
    for (;;) {
        if (is_drained()) return send_ends();
        peer* const to = next_with_credit();
        if (to == nullptr) {
            if (!blocked_since_ && has_items()) blocked_since_ = now();
            return;
        }
        end_credit_wait();
        if (!send_next(to->rank)) break;
        --to->credits;
        ++to->num_sent;
        next_consumer_ = (next_consumer_ + 1) % consumers_.size();
    }
    if (is_drained()) send_ends();
}

// The first consumer, from `next_consumer_` on, that has given credit and has not gone; sets `next_consumer_`
// to it. Null: there is none.
inline link::peer* link::next_with_credit() noexcept {
    for (std::size_t i = 0; i < consumers_.size(); ++i) {
        peer* const p = consumers_[next_consumer_];
        if (p->credits != 0 && !p->has_gone) return p;
        next_consumer_ = (next_consumer_ + 1) % consumers_.size();
    }
    return nullptr;
}

inline std::int64_t link::credit_wait() const noexcept {
    return counts_.credit_wait + (blocked_since_ ? now() - *blocked_since_ : 0);
}
inline void link::end_credit_wait() noexcept {
    counts_.credit_wait = credit_wait();
    blocked_since_.reset();
}

inline void link::send_ends() noexcept {
    end_credit_wait();
    has_sent_end_ = true;
    for (peer* const p : consumers_) p->end_note.send(p->num_sent);
}

// Returns credit for the items that were got since the last note, if they are enough for a note. If this rank
// leaves, tells each producer instead, once, that it gets no more.
inline void link::return_credit() noexcept {
    const bool leaves = is_leaving_.load(std::memory_order_relaxed) && !has_left_;
    has_left_ = has_left_ || leaves;
    for (peer* const p : producers_) {
        if (p->has_ended()) continue;
        if (leaves) p->gone_note.send();
        if (has_left_ || !p->credit_note.is_free()) continue;
        if (p->freed.load(std::memory_order_relaxed) < credit_batch_) continue;  // relaxed: only a number
        p->credit_note.send(p->freed.exchange(0, std::memory_order_relaxed));
    }
}

inline void link::handle_note(peer& from, const note_text& text) noexcept {
    if (text.kind == note_kind::end) {
        from.num_announced = text.number;
        return check_end(from);
    }
    from.credits += text.number;
    from.has_said_bye = from.has_said_bye || text.kind == note_kind::bye;
    from.has_gone = from.has_gone || text.kind == note_kind::gone || text.kind == note_kind::bye;
    if (std::ranges::all_of(consumers_, &peer::has_gone)) all_have_gone();
    send_pending();
}

// Says bye to a producer when all items that its note `end` has announced were received.
inline void link::check_end(peer& of) noexcept {
    if (!of.has_ended()) return;
    of.bye_note.send();
    if (std::ranges::all_of(producers_, &peer::has_ended)) all_have_ended();
}

inline bool link::expects_notes() const noexcept {
    return !std::ranges::all_of(producers_, &peer::has_announced_end) ||
           !std::ranges::all_of(consumers_, &peer::has_said_bye);
}

inline bool link::is_over() const noexcept {
    // The first test: no operation but the link itself is underway. relaxed: read under the reactor's lock
    return underway_.load(std::memory_order_relaxed) == 1 &&
           std::ranges::all_of(producers_, &peer::has_ended) && !expects_notes();
}

}  // namespace weir::mpi::detail

#endif
