// weir stages, internal: a holder for the function of a stage that hides the function's type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_ANY_FUNCTION_HPP
#define WEIR_STAGES_ANY_FUNCTION_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage_kind.hpp>

#include <memory>       // for std::unique_ptr
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::declval, std::forward, std::in_place_t, std::move

namespace weir::detail {

// Holds any function that takes an item of type `T` and returns `R`. If `TakesCall`, the function also takes
// the `invocation`, which describes the call. A running stage stores its function in an `any_function`, so
// that the code of the stage is compiled once for all functions of the same `R` and `T`. Cost: an allocation
// for each run, a virtual call for each item.
//
// Measured with g++ 12, for three stages that add 1 to an int; in ns an item, without and with an
// `any_function`: 64 and 67 with queues of capacity 64, 148 and 132 with capacity 2. With statistics: 83 and
// 87 with capacity 64, 264 and 247 with capacity 2. One more stage takes 0.43 and 0.11 s to compile at -O2,
// 0.17 and 0.03 s at -O0. Rejected: a pointer to a function in place of the virtual call (71 ns, 94 ns with
// statistics); small items by value (no difference).
template <class R, class T, bool TakesCall>
class any_function {
    struct callee {
        virtual ~callee() = default;
        virtual R call(T&& item, const invocation* info) = 0;
    };
    template <class Function>
    struct callee_of final : callee {
        template <class G>
        explicit callee_of(std::in_place_t, G&& g) : function(std::forward<G>(g)) {}
        R call(T&& item, const invocation* info) override {
            return detail::call(function, std::move(item), info);
        }
        Function function;
    };

  public:
    template <class Function>
    any_function(std::in_place_t, Function&& function) {
        // Not std::make_unique: its pointer type costs a compiler some thirty functions for each `Function`.
        using made = callee_of<std::remove_cvref_t<Function>>;
        callee_.reset(new made(std::in_place, std::forward<Function>(function)));
    }

    R operator()(T&& item)
        requires(!TakesCall)
    {
        return callee_->call(std::move(item), nullptr);
    }
    R operator()(T&& item, const invocation& info)
        requires TakesCall
    {
        return callee_->call(std::move(item), &info);
    }

  private:
    std::unique_ptr<callee> callee_;
};

// Whether the type of a function can be hidden. Not if the function is a factory of functions (`per_slot`),
// or has one of the members below, which the stage calls.
template <class Function>
inline constexpr bool is_erasable =
    !is_slot_factory<Function> && !requires(Function& f, const invocation& call) { f.left_out(call); } &&
    !requires(Function& f) { f.measure_nothing(); } && !requires(const Function& f) { f.transfers(); };

// Returns `function`, in an `any_function` if its type can be hidden. `C`: the element type of the queue
// before the stage.
template <class Function, class C, class G>
decltype(auto) keep_function(G&& function) {
    if constexpr (is_erasable<Function>) {
        using traits = typename function_call<Function, C>::traits;
        using erased = any_function<typename traits::call, carried_value_t<C>, traits::takes_call>;
        return erased(std::in_place, std::forward<G>(function));
    } else {
        return std::forward<G>(function);
    }
}
template <class Function, class C>
using kept_function_t =
    std::remove_cvref_t<decltype(detail::keep_function<Function, C>(std::declval<Function>()))>;

}  // namespace weir::detail

#endif
