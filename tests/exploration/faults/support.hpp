// What goes wrong on demand: the n-th allocation, the n-th call of a function of the user's, the n-th copy.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_FAULTS_SUPPORT_HPP
#define WEIR_TESTS_FAULTS_SUPPORT_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace faults {

enum class kind : unsigned char { allocation, call, copy };
inline constexpr std::size_t kinds = 3;

/// Whose function a point is in, and what is expected to come of an exception there.
struct site {
    char stage[48] = {};       ///< whom the failure is to name; empty: nobody in particular
    bool is_forgiven = false;  ///< it is tolerated, or the call is repeated
    bool is_second = false;    ///< with another error before it, it may be left out
};

/// The point at which the one after `after` others of its kind fails.
struct fault {
    kind what = kind::call;
    std::size_t after = 0;
};

/// Where the program is, of which each thread has its own: only what is armed counts, and fails.
class engine {
  public:
    static engine& here() noexcept;

    /// The second one is counted from the first one's failure on.
    void plan(const std::vector<fault>& all) noexcept;

    /// A point is passed. True: this is the one.
    bool passes(kind what, const char* stage = "", bool is_forgiven = false, bool is_second = false) noexcept;

    void arm(bool on) noexcept { armed_ = on; }
    bool is_armed() const noexcept { return armed_ && hushed_ == 0; }
    void hush(int more) noexcept { hushed_ += more; }

    int fired() const noexcept { return fired_; }
    const site& where(int id) const noexcept { return where_[id]; }
    bool counts_allocations() const noexcept {
        return armed_ && fired_ < planned_ && plan_[fired_].what == kind::allocation;
    }

  private:
    bool armed_ = false;
    int hushed_ = 0;
    int planned_ = 0;
    int fired_ = 0;
    fault plan_[2];
    site where_[2];
};

/// While it lives, points count.
class armed {
  public:
    armed() noexcept { engine::here().arm(true); }
    armed(const armed&) = delete;
    armed& operator=(const armed&) = delete;
    ~armed() { engine::here().arm(false); }
};

/// While it lives, none does: for what belongs to the tests, and what is promised to need no memory.
class hushed {
  public:
    hushed() noexcept { engine::here().hush(1); }
    hushed(const hushed&) = delete;
    hushed& operator=(const hushed&) = delete;
    ~hushed() { engine::here().hush(-1); }
};

/// What a call or a copy throws; `id`: the first or the second fault, from 0.
class injected : public std::exception {
  public:
    explicit injected(int id) noexcept : id_(id) { ++alive; }
    injected(const injected& other) noexcept : std::exception(other), id_(other.id_) { ++alive; }
    injected& operator=(const injected&) = delete;
    ~injected() override { --alive; }
    const char* what() const noexcept override { return id_ == 0 ? "the first fault" : "the second fault"; }
    int id() const noexcept { return id_; }
    static thread_local int alive;

  private:
    int id_;
};

/// What an allocation throws.
class no_memory : public std::bad_alloc {
  public:
    explicit no_memory(int id) noexcept : id_(id) { ++injected::alive; }
    no_memory(const no_memory& other) noexcept : std::bad_alloc(other), id_(other.id_) { ++injected::alive; }
    no_memory& operator=(const no_memory&) = delete;
    ~no_memory() override { --injected::alive; }
    const char* what() const noexcept override { return id_ == 0 ? "the first fault" : "the second fault"; }
    int id() const noexcept { return id_; }

  private:
    int id_;
};

/// Of the two above, or one that is nested in something else: which one; -1: none of them.
int id_of(const std::exception_ptr& error) noexcept;

/// To be called where a function of the user's may throw. `stage`: whom the failure is to name.
inline void point(const char* stage) {
    if (engine::here().passes(kind::call, stage)) throw injected(engine::here().fired() - 1);
}
/// The same where it is tolerated, or repeated, and the run goes on.
inline void forgiven_point(const char* stage) {
    if (engine::here().passes(kind::call, stage, true)) throw injected(engine::here().fired() - 1);
}
/// The same where it may come after another error of the same item, which is the item's.
inline void second_point(const char* stage) {
    if (engine::here().passes(kind::call, stage, false, true)) throw injected(engine::here().fired() - 1);
}

/// A part of an item, or of a function, of which the n-th copy may throw; moving it never does.
class fragile {
  public:
    fragile() noexcept { ++alive; }
    fragile(const fragile& other) {
        static_cast<void>(other);
        break_perhaps();
        ++alive;
    }
    fragile(fragile&&) noexcept { ++alive; }
    fragile& operator=(const fragile&) {
        break_perhaps();
        return *this;
    }
    fragile& operator=(fragile&&) noexcept { return *this; }
    ~fragile();
    static thread_local int alive;

  private:
    static void break_perhaps() {
        if (engine::here().passes(kind::copy)) throw injected(engine::here().fired() - 1);
    }
    static constexpr std::uint32_t whole = 0x600dULL;
    std::uint32_t mark_ = whole;
};

/// What flows: a number, and memory of its own.
class item {
  public:
    explicit item(int n) : value_(n), memory_(4, n) {}
    int value() const noexcept { return value_; }

  private:
    int value_;
    std::vector<int> memory_;
    fragile part_;
};

/// Blocks of memory that are there now, and how many there have been.
long blocks() noexcept;
std::uint64_t allocations() noexcept;

/// Frees what the frame pool keeps, so that the next frames are allocations.
void empty_frame_pool() noexcept;

/// What is being tried, for the message of a program that ends by std::terminate.
void describe_trial(std::string_view text) noexcept;

/// An executor whose own queues can't fail, as `post` promises; and with whose every step the frames that
/// are kept are freed.
class calm_executor final : public weir::executor {
  public:
    explicit calm_executor(weir::executor& inner) : executor(inner.traits()), inner_(inner) {}

    void post(std::coroutine_handle<> h) noexcept override {
        const hushed now;
        if (engine::here().counts_allocations()) empty_frame_pool();
        inner_.post(h);
    }
    void add(weir::timer& t) noexcept override {
        const hushed now;
        inner_.add(t);
    }
    void cancel(weir::timer& t) noexcept override {
        const hushed now;
        inner_.cancel(t);
    }
    [[nodiscard]] weir::time_point now() const noexcept override { return inner_.now(); }
    bool drive(flag& done, weir::time_point limit) override { return inner_.drive(done, limit); }

  private:
    weir::executor& inner_;
};

}  // namespace faults

#endif
