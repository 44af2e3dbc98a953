// weir stages, internal: how a stage calls its function, and takes what that returns
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FUNCTION_CALL_HPP
#define WEIR_STAGES_FUNCTION_CALL_HPP

#include <weir/run/invocation.hpp>

#include <functional>  // for std::invoke
#include <optional>    // for std::optional
#include <utility>     // for std::move

namespace weir::detail {

// For a function of type F and items of type In; `Types` is what is known of the two.
template <class Types, class F, class In>
struct function_call {
    using value = typename Types::value;

    static decltype(auto) invoke(F& f, In& item, [[maybe_unused]] const invocation& call) {
        if constexpr (Types::takes_call) {
            return std::invoke(f, std::move(item), call);
        } else {
            return std::invoke(f, std::move(item));
        }
    }

    // What the function returned: a value, or a reference to what is somebody else's.
    template <class R>
    static void keep(std::optional<value>& result, R&& r) {
        if constexpr (Types::may_skip) {
            if (r) result.emplace(*std::forward<R>(r));
        } else {
            result.emplace(std::forward<R>(r));
        }
    }
};

}  // namespace weir::detail

#endif
