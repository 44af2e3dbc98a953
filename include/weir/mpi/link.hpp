// weir mpi, internal: what the ranks of a channel agree on, and tell each other: items, credit, and ends
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_LINK_HPP
#define WEIR_MPI_LINK_HPP

#include <weir/executor/executor.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/task.hpp>

#include <mpi.h>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint32_t
#include <memory>    // for std::unique_ptr
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir::mpi::detail {

// What a rank does in a channel.
struct role {
    bool puts = false;
    bool gets = false;
    std::uint32_t capacity = 0;
};

// The roles of all ranks of a channel, and a communicator that only the channel uses.
struct channel_plan {
    communicator of;
    std::vector<role> roles;
};

// Collective. Exchanges the roles of all ranks, and makes a communicator for the channel alone. Errors:
// `std::invalid_argument`, on all ranks, if no rank puts, if no rank gets, or if the capacity of any rank is
// 0 or does not fit into 32 bits.
task<channel_plan> plan_channel(communicator of, bool puts, bool gets, std::size_t capacity);

// One rank's part of a channel. A rank that puts is a producer, one that gets a consumer. Their messages:
//
// | message | from, to             | meaning                                                              |
// |---------|----------------------|----------------------------------------------------------------------|
// | item    | producer to consumer | the bytes of an item; takes one credit                               |
// | end     | producer to consumer | the number of all items sent: no more follow                         |
// | credit  | consumer to producer | the number of items got: new credit; the first is the full capacity  |
// | gone    | consumer to producer | gets no more: send items elsewhere                                   |
// | bye     | consumer to producer | the answer to `end`: this consumer sends nothing more                |
//
// A consumer does not know the size of an item, and so probes before a receive. Other ranks never probe.
// Each rank has one receive pending for the other messages (notes), from any rank, until no more notes can
// come. A note may overtake an item, so `end` has the number of items.
//
// A consumer has room for all credit that the consumer has given. So the consumer receives each item as soon
// as a probe finds the item, and no item waits in MPI behind another one. The destructor of the channel waits
// until nothing more can arrive. Messages are sent, and those that arrive are handled, under the reactor's
// lock. (The reactor begins and polls operations.)
class link : operation {
  public:
    link(channel_plan plan, executor& clock);
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    // Makes this link send soon. Called by any thread when an item was put, when the channel was closed or
    // cancelled, and when enough items were got to return credit.
    void kick() noexcept {
        // acq_rel; pairs with kick_operation::begin(), which sees what this thread has written
        if (kick_.is_queued.exchange(true, std::memory_order_acq_rel)) return;
        underway_.fetch_add(1, std::memory_order_relaxed);  // relaxed: call() publishes it
        loop_->call(kick_);
    }
    // Counts an item of the rank as got, and returns credit soon if it is due. Called by any thread.
    void got(int rank) noexcept {
        peer& p = *peers_[static_cast<std::size_t>(rank)];
        // relaxed: the number is all that is passed on
        if (p.freed.fetch_add(1, std::memory_order_relaxed) + 1 >= credit_batch_) kick();
    }
    // Tells the producers soon, by `gone`, that this rank gets no more items. Called by any thread.
    void leave() noexcept {
        is_leaving_.store(true, std::memory_order_relaxed);  // ordered by the kick
        kick();
    }

    void check_failure() const {  // throws if a rank has failed
        if (loop_->failure() != nullptr) throw rank_failed(*loop_->failure());
    }

  protected:
    ~link() override = default;

    struct counts {
        std::uint64_t sent = 0, bytes_sent = 0, received = 0, bytes_received = 0, returned = 0;
        std::int64_t wire = 0, credit_wait = 0;
    };

    // Called under the reactor's lock. `all_have_ended`: `receive` was called for each producer's last item.
    // `all_have_gone`: each consumer has sent `gone` or `bye`, and is sent no more items. `failed`: nothing
    // is sent or received any more.
    virtual bool send_next(int to) noexcept = 0;  // returns whether there was an item
    virtual bool has_items() noexcept = 0;        // that wait to be sent
    virtual bool is_drained() noexcept = 0;       // no items, and no more will come
    virtual void receive(int from, MPI_Message message, std::size_t bytes) noexcept = 0;  // an item
    virtual void all_have_ended() noexcept = 0;
    virtual void all_have_gone() noexcept = 0;
    virtual void failed() noexcept = 0;

    void open() noexcept {  // begins to receive; called by the constructor of `channel`
        underway_.fetch_add(1, std::memory_order_relaxed);  // as in kick()
        loop_->submit(*this, &clock_);
        if (expects_notes()) begin_parcel(listener_);
        kick();
    }
    bool is_finished() const noexcept { return finished_.is_set(); }  // nothing more can arrive
    void wait_for_all() noexcept;  // blocks until nothing more can arrive; meanwhile, coroutines run

    // Submits a parcel: an operation that sends or receives one message of this link.
    void begin_parcel(operation& o) noexcept {
        underway_.fetch_add(1, std::memory_order_relaxed);  // as in kick()
        loop_->submit(o, &clock_);
    }
    // The same as begin_parcel(), for a caller that holds the lock: begins the parcel at once. `ended` may be
    // called within this call.
    void begin_parcel_here(operation& o) noexcept {
        underway_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the lock orders it
        loop_->begin_here(o, clock_);
    }
    // Reports the error of a parcel to or from the rank `with` that has ended, and counts the parcel as
    // ended. The link may be destroyed when parcel_ended() returns.
    void parcel_ended(const operation& o, int with) noexcept {
        if (o.error_class() != MPI_SUCCESS) report_error(o.error_class(), o.call(), with);
        operation_ended();
    }
    void report_error(int error_class, const char* call, int rank) noexcept {  // this rank fails
        loop_->report(error(error_class, call, rank).what());
    }

    std::int64_t now() const noexcept { return clock_.now().time_since_epoch().count(); }
    const communicator& comm() const noexcept { return comm_; }
    std::size_t num_ranks() const noexcept { return peers_.size(); }
    // Keeps the notes for the rest of the process, as MPI may still send them. Called after a failure, under
    // the lock.
    void keep_notes() { leak(std::move(peers_)); }
    // The number of items for which this rank needs room; at least 1.
    std::size_t room() const noexcept {
        return weir::detail::larger(capacity_ * producers_.size(), std::size_t{1});
    }
    reactor& loop() const noexcept { return *loop_; }
    counts& figures() noexcept { return counts_; }
    // In ns: how long items have waited for credit, until now. Called under the reactor's lock.
    std::int64_t credit_wait() const noexcept;

  private:
    enum tags : int { item_tag, note_tag };
    enum class note_kind : std::uint64_t { end, credit, gone, bye };
    struct note_text {
        note_kind kind = note_kind::end;
        std::uint64_t number = 0;
    };
    static_assert(sizeof(note_text) == 16);

    // A message to one rank that is no item. The object is used again for the next message.
    class note final : public operation {
      public:
        note(link& of, int to, note_kind kind) noexcept
            : operation("MPI_Isend", to, false), of_(of), text_{kind, 0} {}
        bool is_free() const noexcept { return is_free_; }  // no message is being sent
        void send(std::uint64_t number = 0) noexcept {
            text_.number = number;
            is_free_ = false;
            of_.begin_parcel(*this);
        }

      private:
        int begin(MPI_Request& request, bool&) noexcept override {
            return MPI_Isend(&text_, sizeof text_, MPI_BYTE, peer(), note_tag, of_.comm_.handle(), &request);
        }
        void ended() noexcept override {
            is_free_ = true;
            if (!is_cancelled()) of_.return_credit();  // of items that were got meanwhile
            of_.parcel_ended(*this, peer());
        }
        link& of_;
        note_text text_;
        bool is_free_ = true;
    };

    // Receives notes, one after the other, until no rank sends any more.
    class listener final : public operation {
      public:
        explicit listener(link& of) noexcept : operation("MPI_Irecv", any_rank, true), of_(of) {}

      private:
        int begin(MPI_Request& request, bool&) noexcept override {
            return MPI_Irecv(&text_, sizeof text_, MPI_BYTE, MPI_ANY_SOURCE, note_tag, of_.comm_.handle(),
                             &request);
        }
        void ended() noexcept override {
            if (!is_cancelled() && error_class() == MPI_SUCCESS) {
                of_.handle_note(*of_.peers_[static_cast<std::size_t>(status().MPI_SOURCE)], text_);
                if (of_.expects_notes()) of_.begin_parcel(*this);
            }
            of_.parcel_ended(*this, any_rank);
        }
        link& of_;
        note_text text_;
    };

    struct peer {  // one rank of the channel, maybe this one
        peer(link& of, int r, const role& mine) noexcept
            : rank(r), credits(mine.capacity), end_note(of, r, note_kind::end),
              credit_note(of, r, note_kind::credit), gone_note(of, r, note_kind::gone),
              bye_note(of, r, note_kind::bye) {}
        const int rank;
        // If the peer is a consumer:
        std::uint64_t credits;  // how many items may be sent to the peer now
        std::uint64_t num_sent = 0;
        bool has_gone = false;
        bool has_said_bye = false;
        // If the peer is a producer:
        std::uint64_t num_received = 0;
        std::optional<std::uint64_t> num_announced;  // by `end`
        bool has_announced_end() const noexcept { return num_announced.has_value(); }
        bool has_ended() const noexcept { return num_received == num_announced; }
        standard_platform::atomic<std::uint32_t> freed{0};  // items got, for which no credit was returned yet
        note end_note, credit_note, gone_note, bye_note;
    };

    struct kick_operation final : operation {  // calls send_pending() under the lock
        explicit kick_operation(link& of) noexcept : operation("MPI_Isend", any_rank, false), of_(of) {}
        int begin(MPI_Request&, bool&) noexcept override {
            // acq_rel; pairs with kick(): send_pending() sees the writes of callers that found `true` here
            is_queued.exchange(false, std::memory_order_acq_rel);
            of_.send_pending();
            return MPI_SUCCESS;
        }
        void ended() noexcept override { of_.operation_ended(); }
        link& of_;
        standard_platform::atomic<bool> is_queued{false};
    };

    void operation_ended() noexcept {  // counts one less
        // relaxed: all operations end under the reactor's lock, which orders their writes
        if (underway_.fetch_sub(1, std::memory_order_relaxed) == 1 && has_stopped_) finished_.set();
    }

    void send_pending() noexcept;       // credit or `gone`, items, and at last the notes `end`
    peer* next_with_credit() noexcept;  // null: no consumer has given credit
    void end_credit_wait() noexcept;    // adds the wait until now to `counts_`
    void send_ends() noexcept;          // tells the consumers that no more items follow
    void return_credit() noexcept;      // to the producers, for items that were got; or `gone`
    // Receives items that have arrived, at most half of room() (all of it if the capacity is 1). Sets
    // `again`, so that each poll calls this function again, until is_over() returns true.
    inline int begin(MPI_Request&, bool& again) noexcept override;
    inline void ended() noexcept override;

    void handle_note(peer& from, const note_text& text) noexcept;  // one that has arrived
    void check_end(peer& of) noexcept;    // says bye to a producer whose last item has come
    bool expects_notes() const noexcept;  // whether a rank may still send a note
    bool is_over() const noexcept;        // nothing more can arrive, and nothing is being sent

    const communicator comm_;
    const std::shared_ptr<reactor> loop_;
    executor& clock_;
    std::vector<std::unique_ptr<peer>> peers_;
    std::vector<peer*> consumers_;    // if this rank puts
    std::vector<peer*> producers_;    // if this rank gets
    std::size_t capacity_ = 1;        // of this rank, as a consumer
    std::uint32_t credit_batch_ = 1;  // a note returns credit for at least so many items
    kick_operation kick_{*this};
    listener listener_{*this};
    standard_platform::atomic<std::int64_t> underway_{0};  // operations of this link that have not ended
    standard_platform::atomic<bool> is_leaving_{false};    // leave() was called
    weir::detail::parker finished_;                        // set when nothing more can arrive
    // Under the reactor's lock:
    counts counts_;
    std::size_t next_consumer_ = 0;              // index in `consumers_`: items go to the consumers in turn
    std::optional<std::int64_t> blocked_since_;  // when the wait for credit that goes on now began
    bool has_sent_end_ = false;                  // send_ends() was called
    bool has_left_ = false;                      // the producers were told, by `gone`
    bool has_stopped_ = false;                   // this link receives no items any more: see ended()
};

}  // namespace weir::mpi::detail

#include <weir/mpi/link.ipp>

#endif
