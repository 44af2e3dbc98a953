// weir floor 0: what a coroutine can wait for, so that a deadlock report can name it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_PARKING_PLACE_HPP
#define WEIR_DETAIL_PARKING_PLACE_HPP

#include <weir/detail/immortal.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/slot.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <mutex>    // for std::lock_guard
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

class parking_place;
class parking_registry;

// For what somebody waits, and so who could end the wait.
enum class wait_kind : std::uint8_t {
    get,      // for an item: those who put into the channel
    put,      // for room: those who get from it
    turn,     // for the other slots of its stage
    room,     // for any slot of its run, or its consumer
    outside,  // for a decision that comes from outside of the run
    bench,    // for none: it is out of service
    thread    // for what its thread is blocked on
};

// One who waits.
struct wait_seen {
    std::uint64_t number = 0;  // of all waits that have begun here
    wait_kind kind = wait_kind::get;
    const char* what = "";      // the end of the sentence "... waits"
    const slot* who = nullptr;  // the slot of a stage, if it is one
    bool in_function = false;   // not the stage itself waits, but its function
    bool is_thread = false;
    bool has_limit = false;  // it won't wait for ever
};

// A place with all who wait there, at one instant.
struct place_seen {
    const parking_place* place = nullptr;
    const std::string* channel = nullptr;  // its name; null: no channel
    std::size_t size = 0;
    std::size_t capacity = 0;
    bool closed = false;
    std::vector<wait_seen> waiting;
};

// "stage 'x', slot 0 waits to get from channel 'y' (0 of 2 places taken)"
inline std::string name_of(const wait_seen& w) {
    if (w.who != nullptr) return "stage '" + w.who->stage() + "', slot " + std::to_string(w.who->index());
    return w.is_thread ? "a thread" : "a coroutine";
}
inline std::string sentence_of(const place_seen& at, const wait_seen& w) {
    std::string all = name_of(w) + " waits " + w.what;
    if (at.channel == nullptr) return all;
    all += at.channel->empty() ? " (unnamed)" : " '" + *at.channel + "'";
    return all + " (" + std::to_string(at.size) + " of " + std::to_string(at.capacity) + " places taken" +
           (at.closed ? ", closed)" : ")");
}

// Something with waiters (a channel). It is linked into a registry from the first wait on; whichever of
// the two goes first unlinks it.
class parking_place {
  public:
    parking_place() noexcept = default;
    parking_place(const parking_place&) = delete;
    parking_place& operator=(const parking_place&) = delete;

    // Who waits here. Any thread may ask.
    virtual void look(place_seen& seen) const = 0;

    // How much has happened here: if that has changed since the last time, nobody is stuck here, and a
    // look would only disturb. Takes no lock.
    virtual std::uint64_t moved() const noexcept { return 0; }

    // No other place has it; 0: it was never added to a registry. Only for places of one.
    std::uint64_t serial() const noexcept { return serial_; }

    // Appends one line for each that waits here.
    void describe_waiters(std::string& report) const {
        place_seen seen;
        look(seen);
        for (const wait_seen& w : seen.waiting) report += "\n  " + sentence_of(seen, w);
    }

    // On the one thread that uses it, between two operations: a sentence that says what can't be, or
    // null if all is in order.
    virtual const char* contradiction() const noexcept = 0;

  protected:
    bool watched() const noexcept { return registry_ != nullptr; }
    // To be called by the destructor of the whole object: others may look until then.
    inline void go_unwatched() noexcept;
    ~parking_place() { go_unwatched(); }

  private:
    friend parking_registry;
    parking_registry* registry_ = nullptr;
    std::uint64_t serial_ = 0;
    parking_place* next_ = nullptr;
    parking_place* previous_ = nullptr;
};

// Places. Whoever begins to wait adds one, under that place's locks; who looks at all of them takes the
// registry's lock first and then those of each place. So `add` takes no lock: what is new goes on a stack
// (R. K. Treiber, "Systems programming: coping with parallelism", 1986), of which nobody takes single ones.
class parking_registry {
  public:
    constexpr parking_registry() noexcept = default;
    parking_registry(const parking_registry&) = delete;
    parking_registry& operator=(const parking_registry&) = delete;
    ~parking_registry() {
        const std::lock_guard guard(lock_);
        take_in();
        while (first_ != nullptr) unlink(*first_);
    }

    void add(parking_place& place) noexcept {
        place.registry_ = this;
        // relaxed: a number that no other place has, no more
        place.serial_ = 1 + serials_.fetch_add(1, std::memory_order_relaxed);
        place.next_ = new_.load(std::memory_order_relaxed);
        // release; pairs with the acquire in take_in()
        while (!new_.compare_exchange_weak(place.next_, &place, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
    }

    void remove(parking_place& place) noexcept {
        const std::lock_guard guard(lock_);
        take_in();
        unlink(place);
    }

    // Keeps all places there are as long as it lives.
    class [[nodiscard]] reader {
      public:
        explicit reader(parking_registry& all) : all_(all), guard_(all.lock_) { all_.take_in(); }
        // In the order in which they came.
        template <class Function>
        void each(Function function) const {
            for (const parking_place* p = all_.first_; p != nullptr; p = p->next_) function(*p);
        }

      private:
        parking_registry& all_;
        const std::lock_guard<standard_platform::mutex> guard_;
    };

    void describe_waiters(std::string& report) {
        reader(*this).each([&report](const parking_place& p) { p.describe_waiters(report); });
    }

    // What the first one says that has something to say, and who waits there. On the one thread that uses
    // them all.
    std::string contradiction() {
        if (new_.load(std::memory_order_relaxed) != nullptr) take_in();
        for (const parking_place* p = first_; p != nullptr; p = p->next_) {
            if (const char* const what = p->contradiction()) {
                std::string report = what;
                p->describe_waiters(report);
                return report;
            }
        }
        return {};
    }

  private:
    void take_in() noexcept {
        // acquire; pairs with the release by which each place was put here
        parking_place* const last = new_.exchange(nullptr, std::memory_order_acquire);
        parking_place* newest = last_;
        parking_place* later = nullptr;
        for (parking_place* p = last; p != nullptr;) {
            parking_place* const earlier = p->next_;
            p->next_ = later;
            if (later != nullptr) later->previous_ = p;
            if (earlier == nullptr) {
                p->previous_ = newest;
                (newest == nullptr ? first_ : newest->next_) = p;
            }
            later = p;
            p = earlier;
        }
        if (last != nullptr) last_ = last;
    }

    void unlink(parking_place& place) noexcept {
        (place.previous_ == nullptr ? first_ : place.previous_->next_) = place.next_;
        (place.next_ == nullptr ? last_ : place.next_->previous_) = place.previous_;
        place.registry_ = nullptr;
        place.next_ = place.previous_ = nullptr;
    }

    inline static constinit standard_platform::atomic<std::uint64_t> serials_{0};
    standard_platform::atomic<parking_place*> new_{nullptr};  // the latest first
    standard_platform::mutex lock_;                           // guards the two below, and the links
    parking_place* first_ = nullptr;
    parking_place* last_ = nullptr;
};

inline void parking_place::go_unwatched() noexcept {
    if (registry_ != nullptr) registry_->remove(*this);
}

// Those of all executors that have threads of their own.
inline constinit immortal<parking_registry> all_places;

}  // namespace weir::detail

#endif
