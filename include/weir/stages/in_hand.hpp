// weir stages, internal: what a worker has in hand, from taking an item to giving on what came of it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_IN_HAND_HPP
#define WEIR_STAGES_IN_HAND_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/output_sequencer.hpp>
#include <weir/stages/surroundings.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t

namespace weir::detail {

// Of what a kind has nothing: no items that come, nothing in hand, no tools.
struct nothing {};

// What has become of an invocation.
enum class verdict : std::uint8_t {
    good,
    dropped,  // it failed, which is tolerated
    last,     // good, but with it more have failed than is tolerated
    fatal
};

// Of what an item is made that a kind gives: of the one in hand; of that and all before that are in no
// other; or nobody knows.
enum class made_of : std::uint8_t { its_item, all, unknown };

// What a slot's worker has all the time.
template <class Slot, class Tools>
struct duty {
    Slot& me;
    coroutine_env& env;        // of its coroutine
    const bool is_watched;     // one of these:
    const bool is_surrounded;  // hooks, a time limit or the function want to know of each invocation
    slot_trail* const trail;   // null: no item is followed
    Tools tools;
    std::uint64_t nth = 0;               // of the last item, without marks
    std::uint64_t num_given = 0;         // where nobody knows of what, and items are followed
    std::optional<surroundings> around;  // of the invocation at hand, if it is watched
};

// What a worker awaits next: the next item; nothing more, as its stage ends; or what it takes to give this
// one on.
enum class step : std::uint8_t { take, end, admit, turn, work, limit, value, given, shift, patience };

// Where there are no epochs a turn is a number.
struct turn_without_epoch {
    std::uint64_t number = 0;
    static constexpr std::uint64_t epoch = 0;
    static constexpr bool mark = false;
    // NOLINTNEXTLINE(google-explicit-constructor): it is one
    operator turn() const noexcept { return turn{number, epoch, mark}; }
};

// What a worker has in hand, from taking an item to giving on what came of it. `D`: what it gives on; `Own`:
// what the kind adds; `Tools`: what each slot of it works with. It is made for each item, so what is written
// before it is read has no initial value: all of them cost 3 ns.
template <class C, class D, class Slot, class Own = nothing, class Tools = nothing>
struct in_hand : Own {
    C* item;  // null where none came, and of a kind that takes none
    [[no_unique_address]] std::conditional_t<is_epoch_item<C> || is_epoch_item<D>, turn, turn_without_epoch>
        mine;  // its place in the order of what comes, its epoch, whether it is a mark
    std::exception_ptr error;
    D* what;             // to be given next
    std::int64_t began;  // its invocation
    std::int64_t spent;  // on it, in nanoseconds
    duty<Slot, Tools>* on;
    step then;
    verdict said;
    bool has_ended;  // nothing came, as nothing will come any more
    bool has_more;
    bool is_over;  // the stage ends with it
};

}  // namespace weir::detail

#endif
