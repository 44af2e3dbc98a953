// weir channel, internal: the wait of a select for the first of its cases
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_OPERATION_HPP
#define WEIR_CHANNEL_SELECT_OPERATION_HPP

#include <weir/channel/choice_operation.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/select_case.hpp>
#include <weir/channel/select_result.hpp>
#include <weir/task/stop_token.hpp>

#include <algorithm>    // for std::ranges::find_if
#include <array>        // for std::array
#include <cstddef>      // for std::size_t
#include <functional>   // for std::identity
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::integral_constant
#include <utility>      // for std::in_place_index, std::index_sequence, std::move
#include <vector>       // for std::vector

namespace weir::detail {

// How many cases are of a kind.
template <select_kind Kind, class... Cases>
inline constexpr std::size_t num_of_kind =
    (std::size_t{0} + ... + (select_case_t<Cases>::kind == Kind ? 1 : 0));
template <class... Cases>
inline constexpr bool fit_together =
    num_of_kind<select_kind::operation, Cases...> != 0 && num_of_kind<select_kind::time, Cases...> <= 1 &&
    num_of_kind<select_kind::stop, Cases...> <= 1;

// The platform of the channels.
template <class Case, class... Others>
struct platform_of_cases : platform_of_cases<Others...> {};
template <class Case, class... Others>
    requires(Case::kind == select_kind::operation)
struct platform_of_cases<Case, Others...> {
    using type = typename Case::platform;
};

inline wait_limit limit_of() noexcept { return wait_limit(); }
template <class Case, class... Others>
wait_limit limit_of(const Case& first, const Others&... others) noexcept {
    if constexpr (Case::kind == select_kind::time) {
        return first.limit;
    } else {
        return detail::limit_of(others...);
    }
}
template <class Platform>
basic_stop_token<Platform> stop_of() noexcept {
    return {};
}
template <class Platform, class Case, class... Others>
basic_stop_token<Platform> stop_of(const Case& first, const Others&... others) noexcept {
    if constexpr (Case::kind == select_kind::stop) {
        return first.stop;
    } else {
        return detail::stop_of<Platform>(others...);
    }
}

template <class... Cases>
class select_operation : public choice_operation<typename platform_of_cases<Cases...>::type> {
    using platform = typename platform_of_cases<Cases...>::type;
    using base = choice_operation<platform>;
    using result = select_result<typename Cases::result...>;
    using any_case = typename base::any_case;
    static constexpr auto all = std::index_sequence_for<Cases...>();
    // With a range among them, how many operations there are is known only when it runs.
    static constexpr bool are_counted =
        requires { typename std::integral_constant<std::size_t, (Cases::size() + ... + 0)>; };
    template <bool Counted, class... Each>
    struct list {
        using type = std::vector<any_case*>;
        static type of(std::size_t n) { return type(n); }
    };
    template <class... Each>
    struct list<true, Each...> {
        using type = std::array<any_case*, (Each::size() + ... + 0)>;
        static type of(std::size_t) noexcept { return {}; }
    };
    using operations = list<are_counted, Cases...>;

  public:
    explicit select_operation(Cases&&... cases)
        : base((cases.size() + ... + 0), detail::limit_of(cases...), detail::stop_of<platform>(cases...)),
          operations_(operations::of((cases.size() + ... + 0))), cases_(std::move(cases)...) {
        any_case** at = operations_.data();
        std::apply([&at](auto&... c) { ((c.fill_in(at), at += c.size()), ...); }, cases_);
        if constexpr (!are_counted) {
            const auto any = std::ranges::find_if(operations_, std::identity());
            if (any == operations_.end()) {
                throw std::invalid_argument(
                    "weir: a select has nothing to choose from, as no channel is in the ranges that it was "
                    "given; leave its loop when the last channel is closed");
            }
        }
        this->choose_among(operations_.data());
    }
    select_operation(const select_operation&) = delete;
    select_operation& operator=(const select_operation&) = delete;
    ~select_operation() { this->clean_up(); }

    result await_resume() {
        const std::size_t done = this->resumed();
        if (done != operations_.size()) return take(done, all);
        return end_by(this->why_none() == channel_status::stopped ? select_kind::stop : select_kind::time,
                      all);
    }

  private:
    template <std::size_t... Index>
    result take(std::size_t which, std::index_sequence<Index...>) {
        std::optional<result> r;
        const auto is_it = [&]<std::size_t N>(std::in_place_index_t<N> at) {
            auto& place = std::get<N>(cases_);
            if (which < place.size()) {
                r.emplace(at, place.take(which));
                return true;
            }
            which -= place.size();
            return false;
        };
        static_cast<void>((is_it(std::in_place_index<Index>) || ...));
        return *std::move(r);
    }
    template <std::size_t... Index>
    result end_by(select_kind kind, std::index_sequence<Index...>) {
        std::optional<result> r;
        static_cast<void>(((Cases::kind == kind &&
                            (r.emplace(std::in_place_index<Index>, std::get<Index>(cases_).take(0)), true)) ||
                           ...));
        return *std::move(r);
    }

    typename operations::type operations_;
    std::tuple<typename Cases::place...> cases_;
};

}  // namespace weir::detail

#endif
