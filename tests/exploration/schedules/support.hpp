// What the scenarios share: items that are booked from their making to their end. One thread, so nothing
// here is atomic.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SCHEDULES_SUPPORT_HPP
#define WEIR_TESTS_SCHEDULES_SUPPORT_HPP

#include "scenarios.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/run/failure.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/simulation/world.hpp>
#include <weir/task/detached_task.hpp>
#include <weir/task/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace schedules {

using weir::simulation::stepwise;

class item;

// The books of one schedule: put = got + returned + remaining. What is wrong is kept, the first of it, and
// thrown by `settle`: an exception from the middle of a stage would be an item's failure.
class ledger {
  public:
    static constexpr std::size_t most = 48;
    static constexpr std::size_t producers = 4;

    ledger() = default;
    ledger(const ledger&) = delete;
    ledger& operator=(const ledger&) = delete;

    // A new one. A producer's items are numbered in the order of their making.
    item make(std::size_t producer = 0);

    // `gone`: what was moved from, after a put that succeeded.
    void put(const item& gone);
    // A put that failed: the item is the caller's, and whole.
    void returned(const item& mine);
    // A function destroys it on purpose: a filter, a failure.
    void dropped(const item& unwanted);
    // So many were inside of something that was cancelled, or dropped by the library as it should.
    void discarded(std::size_t items) { discarded_ += items; }
    void got(const item& here);

    void wrong(const char* what) {
        if (complaint_ == nullptr) complaint_ = what;
    }
    void check(bool right, const char* what) {
        if (!right) wrong(what);
    }

    std::size_t made() const { return made_; }
    std::size_t num_got() const { return got_; }
    std::size_t alive() const { return made_ - died_; }

    // When all is over, everything was destroyed, and every put was told to `put` or `returned`.
    // `remaining`: how many were left inside.
    void settle(std::size_t remaining = 0) {
        check(put_ + returned_ == made_, "an item was neither put nor returned");
        check(put_ == got_ + dropped_ + discarded_ + remaining, "put = got + returned + remaining");
        end();
    }
    // The same of a pipeline, whose source puts for itself.
    void settle_run() {
        check(made_ == got_ + dropped_ + discarded_,
              "all that the source gave came out, or was dropped on purpose");
        end();
    }
    // One that was stopped: at most so many were under way.
    void settle_stopped(std::size_t under_way) {
        check(made_ <= got_ + dropped_ + discarded_ + under_way, "no more remained than there are places");
        check(made_ >= got_ + dropped_ + discarded_, "no more came out than went in");
        end();
    }

  private:
    friend item;

    struct page {
        std::uint8_t deaths = 0;
        std::uint8_t got = 0;
        std::uint8_t returned = 0;
        std::uint8_t dropped = 0;
    };

    void end() {
        for (std::size_t i = 0; i < made_; ++i) {
            const page& p = pages_[i];
            check(p.deaths != 0, "an item is still alive");
            check(p.deaths <= 1, "an item was destroyed twice");
            check(p.got + p.returned + p.dropped <= 1, "an item has come to two ends");
        }
        if (complaint_ != nullptr) throw weir::simulation::failed_check(complaint_);
    }
    void strike(std::size_t number) {
        ++pages_[number].deaths;
        ++died_;
    }

    std::array<page, most> pages_;
    std::array<std::uint16_t, producers> made_by_{};
    std::size_t made_ = 0;
    std::size_t died_ = 0;
    std::size_t put_ = 0;
    std::size_t returned_ = 0;
    std::size_t dropped_ = 0;
    std::size_t discarded_ = 0;
    std::size_t got_ = 0;
    const char* complaint_ = nullptr;
};

// Moves only; what was moved from is no item any more.
class item {
  public:
    item(item&& other) noexcept
        : book_(std::exchange(other.book_, nullptr)), number_(other.number_), producer_(other.producer_),
          nth_(other.nth_), size_(other.size_) {}
    item& operator=(item&& other) noexcept {
        if (this == &other) return *this;
        strike();
        book_ = std::exchange(other.book_, nullptr);
        number_ = other.number_;
        producer_ = other.producer_;
        nth_ = other.nth_;
        size_ = other.size_;
        return *this;
    }
    ~item() { strike(); }

    bool whole() const noexcept { return book_ != nullptr; }
    std::size_t number() const noexcept { return number_; }
    std::size_t producer() const noexcept { return producer_; }
    // Of those of its producer, from 0.
    std::size_t nth() const noexcept { return nth_; }
    // In bytes, as queues with a limit see it.
    std::size_t size() const noexcept { return size_; }
    item sized(std::size_t bytes) && {
        size_ = static_cast<std::uint16_t>(bytes);
        return std::move(*this);
    }

  private:
    friend ledger;
    item(ledger& book, std::size_t number, std::size_t producer, std::size_t nth) noexcept
        : book_(&book), number_(static_cast<std::uint16_t>(number)),
          producer_(static_cast<std::uint16_t>(producer)), nth_(static_cast<std::uint16_t>(nth)) {}
    void strike() noexcept {
        if (book_ != nullptr) book_->strike(number_);
        book_ = nullptr;
    }

    ledger* book_;
    std::uint16_t number_;
    std::uint16_t producer_;
    std::uint16_t nth_;
    std::uint16_t size_ = 1;
};

inline item ledger::make(std::size_t producer) {
    if (made_ == most) throw weir::simulation::failed_check("more items than a ledger has pages");
    const std::size_t number = made_++;
    return item(*this, number, producer, made_by_[producer]++);
}
inline void ledger::put(const item& gone) {
    check(!gone.whole(), "an item that was put is no longer the caller's");
    ++put_;
}
inline void ledger::returned(const item& mine) {
    check(mine.whole(), "an item whose put failed is still the caller's");
    if (!mine.whole()) return;
    ++pages_[mine.number()].returned;
    ++returned_;
}
inline void ledger::dropped(const item& unwanted) {
    check(unwanted.whole(), "what was given to a function is an item");
    if (!unwanted.whole()) return;
    ++pages_[unwanted.number()].dropped;
    ++dropped_;
}
inline void ledger::got(const item& here) {
    check(here.whole(), "what was got is an item");
    if (!here.whole()) return;
    check(++pages_[here.number()].got == 1, "an item was got twice");
    ++got_;
}

// Takes items, and sees whether those of each producer come in their order.
class consumer {
  public:
    explicit consumer(ledger& book) : book_(&book) {}

    void got(const item& here) {
        if (here.whole()) {
            std::size_t& next = next_[here.producer()];
            book_->check(here.nth() >= next, "the items of a producer come in their order");
            next = here.nth() + 1;
        }
        got_in_any_order(here);
    }
    // The same where none may be missing.
    void got_next(const item& here) {
        if (here.whole()) {
            book_->check(here.nth() == next_[here.producer()], "each item comes after the one before it");
        }
        got(here);
    }
    void got_in_any_order(const item& here) {
        book_->got(here);
        ++count_;
    }
    std::size_t count() const { return count_; }

  private:
    ledger* book_;
    std::array<std::size_t, ledger::producers> next_{};
    std::size_t count_ = 0;
};

// What a source is made of: so many items, then nothing.
struct maker {
    maker(ledger& to, std::size_t items, std::size_t number = 0) : book(&to), left(items), producer(number) {}
    std::optional<item> operator()() {
        std::optional<item> next;
        if (left == 0) return next;
        --left;
        next.emplace(book->make(producer));
        return next;
    }
    ledger* book;
    std::size_t left;
    std::size_t producer;
};

// Gives an item on as it is.
struct passes {
    item operator()(item i) const { return i; }
};

// `what`: of a sentence.
inline bool contains(const std::string& text, const char* what) {
    return text.find(what) != std::string::npos;
}

// Once, at any point of the schedule: before a step below `steps`, or never, if it is over before.
template <class Action>
void at_any_step(world& w, std::size_t steps, Action action) {
    w.at_step(w.draw(steps), std::move(action));
}

// Lets others run, for so many steps of its own.
inline weir::task<> idle(world& w, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) co_await weir::schedule(w);
}

}  // namespace schedules

template <>
struct weir::item_size<schedules::item> {
    static std::size_t of(const schedules::item& i) noexcept { return i.size(); }
};

#endif
