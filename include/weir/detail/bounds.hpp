// weir floor 0: the smaller and the larger of two numbers, and whether one was negative
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_BOUNDS_HPP
#define WEIR_DETAIL_BOUNDS_HPP

#include <stdexcept>  // for std::invalid_argument

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

template <class T>
constexpr void refuse_negative(T n, const char* sentence) {
    if (was_negative(n)) throw std::invalid_argument(sentence);
}

}  // namespace weir::detail

#endif
