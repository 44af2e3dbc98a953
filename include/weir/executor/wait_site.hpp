// weir executor, internal: objects on which coroutines wait, and the text that names each waiter in a report
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WAIT_SITE_HPP
#define WEIR_EXECUTOR_WAIT_SITE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint8_t, std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

class wait_site;

// The reason for a wait, and the event that can end the wait. A slot is a worker of a stage of a run, which
// is a started pipeline; the consumer takes the run's results.
enum class wait_kind : std::uint8_t {
    get,      // for an item: a put, or the end of the channel, ends the wait
    put,      // for room: a get, or the end of the channel, ends the wait
    turn,     // for other slots of the stage, because of the order of items, a batch or a merge
    others,   // for other parts of the run: any slot, or the consumer, can end the wait
    outside,  // for a call from outside of the run, such as the one that resumes a paused run
    bench,    // to be used again: the stage has more slots than its concurrency, and this one is unused
    thread    // a thread is blocked, not a coroutine
};

// One waiter, as `wait_site::inspect` lists it.
struct wait_seen {
    std::uint64_t number = 0;  // of this wait, counted at this site
    wait_kind kind = wait_kind::get;
    const char* what = "";      // completes the sentence "... waits"
    const slot* who = nullptr;  // the slot that waits; null: a coroutine of no stage, or a thread
    bool in_function = false;   // the stage's function waits, not the stage itself
    bool is_thread = false;     // a thread waits, not a coroutine
    bool has_limit = false;     // the wait ends at a deadline
};

// A wait site and all its waiters at one instant.
struct site_seen {
    const wait_site* site = nullptr;
    const std::string* channel = nullptr;  // the channel's name; null: the site is no channel
    std::size_t size = 0;
    std::size_t capacity = 0;
    bool closed = false;
    std::vector<wait_seen> waiting;
};

// An object on which coroutines wait, such as a channel. The derived class calls `register_site` at the first
// wait. A channel doesn't, if the executor of the waiting coroutine may be destroyed before the channel.
class wait_site : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::site;  // the kind in the registry

    wait_site() noexcept : registered(registry_kind::site) {}

    // Adds the waiters to `seen`, and sets `seen.site`; a channel sets all members. Any thread may call this.
    virtual void inspect(site_seen& seen) const = 0;

    // A counter of completed operations. While the counter changes, no waiter is stuck, and a watchdog need
    // not call `inspect`. A site that does not count returns 0. Takes no lock.
    virtual std::uint64_t moved() const noexcept { return 0; }

    // Identifies the site for a watchdog, also after its address is used again by another site.
    std::uint64_t serial() const noexcept { return serial_; }

    // For a site that one thread uses, as in a simulation, called between two operations: a sentence that
    // names a broken invariant, or null.
    virtual const char* contradiction() const noexcept = 0;

  protected:
    ~wait_site() = default;

  private:
    inline static constinit standard_platform::atomic<std::uint64_t> serials_{0};
    // relaxed: only has to be unique
    const std::uint64_t serial_ = 1 + serials_.fetch_add(1, std::memory_order_relaxed);
};

// Adds the site to the registry of `ex`, or to the process-wide one if `executor_traits::waiters` is null.
void register_site(wait_site& site, const executor& ex) noexcept;

// The parts of one line of a deadlock report.
struct wait_words {
    std::string who;    // "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;  // the stage's name; empty: not a stage's slot
    std::string where;  // where the stage is defined: "loader.cpp:42"
    std::string at;     // "channel 'y' is full, 64 of 64"; empty: the site is no channel
    std::string what;   // follows "waits": "to put"
    std::string why;    // ends the line: "; nobody is left to get"; only a watchdog's report has it

    bool is_like(const wait_words& o) const;  // whether both share a line of the report
};

// The maximum number of lines about waits in a report for a person.
inline constexpr std::size_t most_wait_lines = 50;

// The lines of a report. Waiters that differ only in the slot, or not at all, share a line.
class wait_lines {
  public:
    // `most`: the greatest number of lines; later waiters that fit none of these are only counted.
    explicit wait_lines(std::size_t most = static_cast<std::size_t>(-1)) noexcept : most_(most) {}

    // Cost: a comparison with each line.
    void add(wait_words words);

    // The subject of each line: "stage 'x', slot 3" or "16 slots of stage 'x'"; of waiters without a stage:
    // "a thread", "a coroutine" or "2 threads".
    std::vector<std::string> subjects() const;

    // "\n  channel 'y' is full, 64 of 64: 16 slots of stage 'x' (loader.cpp:42) wait to put", and so on; then
    // the number of waiters that are only counted, if any.
    std::string text() const;

  private:
    struct line {
        wait_words words;
        std::size_t count;

        std::string text() const;
        std::string subject() const;  // as an element of `subjects()`
    };

    std::size_t most_;
    std::vector<line> lines_;
    std::size_t only_counted_ = 0;  // waiters without a line
};

std::string name_of(const wait_seen& w);
// The state of a channel, as "channel 'y' is full, 64 of 64"; empty if the site is no channel.
std::string state_of(const site_seen& at);
wait_words words_of(const site_seen& at, const wait_seen& w);

// The rank of a waiter that waits for ever, less than `wait_ranks`: the lower, the likelier this waiter
// causes the deadlock. A thread, or a stage's function, may wait for something outside of the run. A slot
// that waits to put blocks the stages before it; a slot that waits to get is starved by those stages.
inline constexpr unsigned wait_ranks = 6;
unsigned rank_of(const wait_seen& w) noexcept;

// Adds the waiters of a site that have this rank; `wait_ranks`: all waiters.
void add_waiters(wait_lines& lines, const wait_site& at, unsigned rank = wait_ranks);
std::string waiters_at(const wait_site& at);

// For sites that one thread uses, called on that thread. `waiters_at` returns the waiters as text, the
// likeliest cause first, in at most `most_wait_lines` lines. `contradiction_in` returns the first broken
// invariant of a site (see `wait_site::contradiction`), with the waiters at this site. Both return an empty
// text if there is none.
std::string waiters_at(registry& all);
std::string contradiction_in(registry& all);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/executor/wait_site.ipp>
#endif

#endif
