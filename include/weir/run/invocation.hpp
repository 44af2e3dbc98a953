// weir run: one call of a stage's function, as the function and hooks may see it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_INVOCATION_HPP
#define WEIR_RUN_INVOCATION_HPP

#include <weir/task/stop_token.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::shared_ptr
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move

namespace weir {

namespace detail {

class invocation_guard;

// Of each type the address of one object: without run-time type information, which a program may lack.
template <class T>
inline constexpr char type_mark = 0;

// An item whose type only those know who made it, and who ask for it.
class any_item {
  public:
    any_item() noexcept = default;
    template <class T>
    explicit any_item(const T& item) noexcept : item_(&item), type_(&type_mark<T>) {}

    template <class T>
    const T* as() const noexcept {
        return type_ == &type_mark<T> ? static_cast<const T*>(item_) : nullptr;
    }

  private:
    const void* item_ = nullptr;
    const char* type_ = nullptr;
};

}  // namespace detail

/// Which item a stage works on, and in which slot. A function of a `pipe` may take it after the item:
///
///     weir::pipe([](image i, const weir::invocation& call) { return decode(i, call.slot()); })
///
/// Lifetime: as long as the call.
class invocation {
  public:
    /// \param stage  outlives it.
    invocation(const std::string& stage, std::uint64_t item, std::uint64_t epoch, std::size_t slot,
               stop_token stop)
        : stop_(std::move(stop)), stage_(&stage), item_(item), epoch_(epoch), slot_(slot) {}

    [[nodiscard]] const std::string& stage() const noexcept { return *stage_; }  ///< its name

    /// \returns the item's number at this stage, from 0, in the order in which it took them.
    [[nodiscard]] std::uint64_t item() const noexcept { return item_; }

    /// \returns the item's epoch, from 0; 0 where the source has no epochs.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    /// \returns which of the stage's slots it is: no two calls at the same time have the same one.
    [[nodiscard]] std::size_t slot() const noexcept { return slot_; }

    /// \returns what asks a function that waits to give up: its `stage_options::time_limit` is over, or the
    ///          run was stopped.
    [[nodiscard]] const stop_token& stop() const noexcept { return stop_; }

    /// For `hook::before`: the item that came.
    /// \returns null if it is no `T`, and where there is none: in a source, and once the function has it.
    /// Lifetime: until `before` returns.
    template <class T>
    [[nodiscard]] const T* input() const noexcept {
        return input_.as<T>();
    }

    /// For `hook::after`: what came of it, of a stage that makes one item of one, and of a source.
    /// \returns null if it is no `T`, where the function failed, and where nothing came.
    /// Lifetime: until `after` returns.
    template <class T>
    [[nodiscard]] const T* output() const noexcept {
        return output_.as<T>();
    }

  private:
    friend class detail::invocation_guard;

    detail::any_item input_;
    detail::any_item output_;
    stop_token stop_;
    const std::string* stage_;
    std::uint64_t item_;
    std::uint64_t epoch_;
    std::size_t slot_;
};

/// Something to be done around every invocation of a stage, of every stage of a run, or of all runs of the
/// process: see `stage_options::hooks`, `run_options::hooks`, `run_defaults::hooks`. A
/// source is asked for the end of an epoch, and of the stream, too, and a hook hears of that.
/// Override what is of interest.
///
/// Errors:  an exception from `before` or `after` fails the item as one from the function does; one from
///          `stage_begins` or `stage_ends` stops the run, as a failure of that stage.
/// Threads: the stage's, several at once.
/// Cost:    two or three readings of the clock for each invocation. The time of a hook is
///          `slot_times::overhead`, and no part of the invocation's.
class hook {
  public:
    hook() = default;
    hook(const hook&) = delete;
    hook& operator=(const hook&) = delete;
    virtual ~hook() = default;

    /// The first slot of a stage is about to take its first item; once a run and stage, but not of a sink,
    /// which does no work.
    virtual void stage_begins(const std::string& stage) { static_cast<void>(stage); }

    /// No slot of the stage works any more; once a run and stage that has begun, also if it failed or was
    /// stopped. What it finished may still be on its way.
    virtual void stage_ends(const std::string& stage) { static_cast<void>(stage); }

    /// An item is about to be worked on: `call.input<T>()`. If it throws, the function isn't called.
    virtual void before(const invocation& call) { static_cast<void>(call); }

    /// It was worked on: `call.output<T>()`. `error`: what the function threw, else null. Not
    /// called if `before` threw.
    virtual void after(const invocation& call, const std::exception_ptr& error) {
        static_cast<void>(call);
        static_cast<void>(error);
    }
};

namespace detail {

// Named so that the compiler's own message reads as a sentence. A member of the base's name that is no
// override hides it, and would never be called. (What is private can't be looked at.)
template <class Function>
struct takes {
    template <class Class>
    static void as_a_member(Function Class::*) {}
};
template <class H>
struct the_hook {
    using call = void(const invocation&);
    using end_of_call = void(const invocation&, const std::exception_ptr&);
    using of_a_stage = void(const std::string&);
    static constexpr bool before_fits =
        !requires { &H::before; } || requires { takes<call>::as_a_member(&H::before); };
    static constexpr bool after_fits =
        !requires { &H::after; } || requires { takes<end_of_call>::as_a_member(&H::after); };
    static constexpr bool stages_fit =
        (!requires { &H::stage_begins; } || requires { takes<of_a_stage>::as_a_member(&H::stage_begins); }) &&
        (!requires { &H::stage_ends; } || requires { takes<of_a_stage>::as_a_member(&H::stage_ends); });
    static_assert(before_fits && after_fits && stages_fit,
                  "weir: this hook has a member that is named as one of weir::hook's and takes something "
                  "else, so it would never be called; they are before(const invocation&), "
                  "after(const invocation&, const std::exception_ptr&), stage_begins(const std::string&) and "
                  "stage_ends(const std::string&): write override behind them; the type is that of "
                  "the_hook<...> in this message");
};

}  // namespace detail

/// A hook as `run_options::hooks` holds it: a `std::shared_ptr` that looks at what it is given.
class shared_hook : public std::shared_ptr<hook> {
  public:
    /// Of a class that derives from `hook`. Errors: `std::invalid_argument` for null.
    template <class H>
        requires std::is_convertible_v<H*, hook*>
    // NOLINTNEXTLINE(google-explicit-constructor): .hooks = {std::make_shared<mine>()} is the point
    shared_hook(std::shared_ptr<H> one) : std::shared_ptr<hook>(std::move(one)) {
        static_cast<void>(sizeof(detail::the_hook<H>));
        if (get() == nullptr) {
            throw std::invalid_argument(
                "weir: a hook is null, so that it can't be called: was it moved from? Give it a "
                "std::make_shared, or leave it out");
        }
    }
};

}  // namespace weir

#endif
