// weir floor 0: the smaller and the larger of two numbers, and whether one was negative
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_BOUNDS_HPP
#define WEIR_DETAIL_BOUNDS_HPP

namespace weir::detail {

// std::min and std::max are in <algorithm>, behind which are the algorithms of std::ranges: a fifth of all
// that a compiler would have to read for task.hpp.
template <class T>
constexpr T smaller(T a, T b) noexcept {
    return b < a ? b : a;
}
template <class T>
constexpr T larger(T a, T b) noexcept {
    return a < b ? b : a;
}

// Whether an unsigned number is what a negative one becomes: more than there can be of anything.
template <class T>
constexpr bool was_negative(T n) noexcept {
    return n > static_cast<T>(-1) / 2;
}

}  // namespace weir::detail

#endif
