// weir floor 0: what a coroutine can wait for, so that a deadlock report can name it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_PARKING_PLACE_HPP
#define WEIR_DETAIL_PARKING_PLACE_HPP

#include <string>  // for std::string

namespace weir::detail {

class parking_registry;

// Something with waiters (a channel). It is linked into the registry of the executor that watches
// it; whichever of the two goes first unlinks it.
class parking_place {
  public:
    parking_place() noexcept = default;
    parking_place(const parking_place&) = delete;
    parking_place& operator=(const parking_place&) = delete;

    // Appends one line for each coroutine that waits here: who, for what, on what.
    virtual void describe_waiters(std::string& report) const = 0;

    // On the one thread that uses it, between two operations: a sentence that says what can't be, or
    // null if all is in order.
    virtual const char* contradiction() const noexcept = 0;

  protected:
    bool watched() const noexcept { return registry_ != nullptr; }
    inline ~parking_place();

  private:
    friend parking_registry;
    parking_registry* registry_ = nullptr;
    parking_place* next_ = nullptr;
    parking_place* previous_ = nullptr;
};

// The places that one executor watches. Not for several threads: only an executor that runs
// everything on one thread keeps one.
class parking_registry {
  public:
    parking_registry() noexcept = default;
    parking_registry(const parking_registry&) = delete;
    parking_registry& operator=(const parking_registry&) = delete;
    ~parking_registry() {
        while (first_ != nullptr) remove(*first_);
    }

    void add(parking_place& place) noexcept {
        place.registry_ = this;
        place.previous_ = last_;
        (last_ == nullptr ? first_ : last_->next_) = &place;
        last_ = &place;
    }

    void remove(parking_place& place) noexcept {
        (place.previous_ == nullptr ? first_ : place.previous_->next_) = place.next_;
        (place.next_ == nullptr ? last_ : place.next_->previous_) = place.previous_;
        place.registry_ = nullptr;
        place.next_ = place.previous_ = nullptr;
    }

    void describe_waiters(std::string& report) const {
        for (const parking_place* p = first_; p != nullptr; p = p->next_) p->describe_waiters(report);
    }

    // What the first one says that has something to say, and who that is.
    std::string contradiction() const {
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
    parking_place* first_ = nullptr;
    parking_place* last_ = nullptr;
};

inline parking_place::~parking_place() {
    if (registry_ != nullptr) registry_->remove(*this);
}

}  // namespace weir::detail

#endif
