// weir mpi, internal: the items that one rank of a channel sends, and those that it receives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_ITEM_LINK_HPP
#define WEIR_MPI_ITEM_LINK_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/executor/executor.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/link.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/mpi/wire.hpp>

#include <mpi.h>

#include <cstddef>    // for std::byte, std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception, std::uncaught_exceptions
#include <memory>     // for std::make_unique, std::unique_ptr
#include <new>        // for std::bad_alloc
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move
#include <vector>     // for std::vector

namespace weir::mpi::detail {

// An item that has arrived, and the rank that put the item.
template <class S>
struct arrival {
    S item;
    int from;
};

// Owns objects of type `Parcel`, which are used again and again. A parcel is an operation that sends or
// receives one item.
template <class Parcel>
class parcels {
  public:
    // `of`: given to the constructor of a new parcel. Errors: `std::bad_alloc`.
    template <class Link>
    Parcel& take(Link& of) {
        if (free_.empty()) {
            free_.reserve(all_.size() + 1);
            all_.push_back(std::make_unique<Parcel>(of));
            return *all_.back();
        }
        Parcel& p = *free_.back();
        free_.pop_back();
        return p;
    }
    // The parcel has ended: its item is destroyed, and it can be taken again.
    void give(Parcel& p) noexcept {
        p.item.reset();
        free_.push_back(&p);
    }

  private:
    std::vector<std::unique_ptr<Parcel>> all_;
    std::vector<Parcel*> free_;
};

// A link (one rank's part of a channel between ranks) for items of type S. An item to be sent waits in the
// local channel `out` until the receiver gives credit. An item that has arrived waits in the local channel
// `in` until a consumer gets the item.
template <class S>
class item_link : public link {
  public:
    item_link(channel_plan plan, executor& clock, const std::string& name)
        : link(std::move(plan), clock), out(2, clock, name), in(link::room(), clock, name),
          arriving_(link::num_ranks()) {}

    // After the failure of a rank, leaks the items that are on their way: another rank that has not heard of
    // the failure may still send to this rank, or receive from it. MPI then reads and writes these items.
    ~item_link() override {
        if (loop().failure() == nullptr) return;
        loop().locked([this] {
            leak(std::move(sendings_));
            leak(std::move(receivings_));
            this->keep_notes();  // the messages of the link that are no items
        });
    }

    // Returns the item. Errors: `std::length_error` if the item has 2 GiB or more.
    static S& checked(S& item) {
        static_cast<void>(elements<std::byte>(bytes_of(item).size()));
        return item;
    }
    // Called after each put into `out`: makes the link send soon. `is_in`: the result of that put, which is
    // returned. Errors: `rank_failed`, if the item was not put because a rank has failed.
    bool after_put(bool is_in) {
        is_in ? kick() : check_failure();
        return is_in;
    }

    // Blocks the calling thread. Returns false in the same cases as `channel::put`.
    bool put_now(S& item) {
        return after_put(out.blocking_put(std::move(checked(item))) == channel_status::success);
    }
    // Whether an exception destroys this object while other ranks may wait for this rank.
    bool is_unwinding() const noexcept { return num_ranks() > 1 && std::uncaught_exceptions() > exceptions_; }
    // Makes this rank a failed rank, unless all items of the channel are sent and received. The thread that
    // catches the exception then tells the other ranks the reason: see `world::run`. If no thread does so
    // within a second, the other ranks get a general reason.
    void give_up_rank() noexcept {
        loop().locked([this]() noexcept {
            if (!is_finished()) loop().abandon();
        });
    }
    // Ends this rank's puts because of an exception, and makes this rank a failed rank: see give_up_rank().
    void abandon() noexcept {
        give_up_rank();
        out.close();
        kick();
    }

    weir::channel<S> out;
    weir::channel<arrival<S>> in;

  private:
    struct sending final : detail::operation {  // the parcel of an item that is sent
        explicit sending(item_link& of) : detail::operation("MPI_Isend", any_rank, false), link_(of) {}
        int begin(MPI_Request& request, bool&) noexcept override {
            const std::span<std::byte> bytes = bytes_of(*item);
            return MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0,
                             link_.comm().handle(), &request);
        }
        void ended() noexcept override { link_.sending_ended(*this); }
        item_link& link_;
        int to = 0;
        std::int64_t begun = 0;
        std::optional<S> item;
    };
    struct receiving final : detail::operation {  // the parcel of an item that is received
        explicit receiving(item_link& of) : detail::operation("MPI_Imrecv", any_rank, false), link_(of) {}
        int begin(MPI_Request& request, bool&) noexcept override {
            const std::span<std::byte> bytes = bytes_of(*item);
            return MPI_Imrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message, &request);
        }
        void ended() noexcept override { link_.receiving_ended(*this); }
        item_link& link_;
        int from = 0;
        bool is_complete = false;   // the item has arrived
        receiving* next = nullptr;  // in the row of its rank
        MPI_Message message = MPI_MESSAGE_NULL;
        std::optional<S> item;
    };

    // The items on their way from one rank, in order.
    struct row {
        receiving* first = nullptr;
        receiving* last = nullptr;
    };

    // The functions below are called under the lock of loop(), the reactor (it begins and polls operations).

    // Begins to send the next item to the rank `to`, which has given credit (permission for an item). Returns
    // whether there was an item.
    bool send_next(int to) noexcept override {
        sending* next = nullptr;
        try {
            next = &sendings_.take(*this);
        } catch (const std::bad_alloc&) {
            report_error(MPI_ERR_NO_MEM, "MPI_Isend", to);
            return false;
        }
        auto first = out.try_get();
        if (!first) {
            sendings_.give(*next);
            return false;
        }
        next->item.emplace(std::move(*first));
        next->to = to;
        next->begun = now();
        ++figures().sent;
        figures().bytes_sent += bytes_of(*next->item).size();
        begin_parcel_here(*next);
        return true;
    }
    // Counts the time of the send. After a failure, the parcel is not used again: MPI may still read it.
    void sending_ended(sending& s) noexcept {
        if (!s.is_cancelled()) {
            figures().wire += now() - s.begun;
            sendings_.give(s);
        }
        parcel_ended(s, s.to);
    }
    bool has_items() noexcept override { return out.size() != 0; }
    bool is_drained() noexcept override { return out.closed() && out.size() == 0; }

    // Begins to receive the item that a probe has found.
    void receive(int from, MPI_Message message, std::size_t bytes) noexcept override {
        try {
            receiving& r = receivings_.take(*this);
            r.item.emplace();
            make_room(*r.item, bytes);
            if (bytes_of(*r.item).size() != bytes) {
                loop().report(
                    "weir: what rank " + std::to_string(from) +
                    " has sent into a channel is no item of this rank's type: its size in bytes is " +
                    std::to_string(bytes) + "; give the channel one item type on all ranks");
                return;
            }
            r.from = from;
            r.message = message;
            r.is_complete = false;
            r.next = nullptr;
            row& queue = arriving_[static_cast<std::size_t>(from)];
            (queue.first == nullptr ? queue.first : queue.last->next) = &r;
            queue.last = &r;
            ++num_arriving_;
            begin_parcel_here(r);
        } catch (const std::exception&) {
            report_error(MPI_ERR_NO_MEM, "MPI_Improbe", from);
        }
    }
    // Puts items that have arrived into `in`. An item that has arrived waits for all items that the same rank
    // sent before.
    void receiving_ended(receiving& r) noexcept {
        r.is_complete = !r.is_cancelled() && r.error_class() == MPI_SUCCESS;
        const int from = r.from;
        row& queue = arriving_[static_cast<std::size_t>(from)];
        while (queue.first != nullptr && queue.first->is_complete) {
            receiving& first = *std::exchange(queue.first, queue.first->next);
            ++figures().received;
            figures().bytes_received += bytes_of(*first.item).size();
            arrival<S> arrived{std::move(*first.item), first.from};
            if (in.try_put(std::move(arrived)) != channel_status::success) ++figures().returned;
            receivings_.give(first);
            --num_arriving_;
        }
        if (all_have_ended_ && num_arriving_ == 0) in.close();
        parcel_ended(r, from);
    }
    // The last item of each producer is here or on its way.
    void all_have_ended() noexcept override {
        all_have_ended_ = true;
        if (num_arriving_ == 0) in.close();
    }
    // No consumer is sent any more items.
    void all_have_gone() noexcept override { out.cancel(); }
    // A rank has failed: nothing is sent or received any more.
    void failed() noexcept override {
        in.close();
        out.cancel();
    }

    const int exceptions_ = std::uncaught_exceptions();  // when this object was made: see is_unwinding()
    parcels<sending> sendings_;
    parcels<receiving> receivings_;
    std::vector<row> arriving_;     // by rank
    std::size_t num_arriving_ = 0;  // items in all rows
    bool all_have_ended_ = false;   // all_have_ended() was called: `in` closes after the last item
};

}  // namespace weir::mpi::detail

#endif
