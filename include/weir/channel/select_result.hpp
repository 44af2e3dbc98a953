// weir channel: which case a select chose, and what has become of it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_SELECT_RESULT_HPP
#define WEIR_CHANNEL_SELECT_RESULT_HPP

#include <weir/channel/get_result.hpp>

#include <cstddef>    // for std::size_t
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::to_string
#include <utility>    // for std::forward, std::in_place_index_t, std::move
#include <variant>    // for std::variant

namespace weir {

/// Which case of a `select` it was, and what has become of it.
template <class... Results>
class [[nodiscard]] select_result {
  public:
    /// For `select`: the case of index `Index`.
    template <std::size_t Index, class Result>
    select_result(std::in_place_index_t<Index> which, Result&& it) : it_(which, std::forward<Result>(it)) {}

    /// Of the case that was done, or whose channel is closed, or whose time is over; in the order of the
    /// arguments, from 0.
    [[nodiscard]] std::size_t(index)() const noexcept { return (it_.index)(); }

    /// `success`, `closed`, `timed_out` or `stopped`.
    [[nodiscard]] channel_status status() const noexcept {
        return std::visit([](const auto& it) { return status_of(it); }, it_);
    }

    /// What that case gives: of a get the item, or `closed`, as a `get_result`; of a put, a time
    /// and a stop the `channel_status`. Lifetime: that of this object.
    /// Errors: `std::logic_error` that names both, if it was another case.
    template <std::size_t Index>
    [[nodiscard]] auto& get() & {
        return case_of<Index>(*this);
    }
    template <std::size_t Index>
    [[nodiscard]] const auto& get() const& {
        return case_of<Index>(*this);
    }
    /// The same, by value.
    template <std::size_t Index>
    [[nodiscard]] auto get() && {
        return std::move(case_of<Index>(*this));
    }

  private:
    static channel_status status_of(channel_status s) noexcept { return s; }
    template <class T>
    static channel_status status_of(const get_result<T>& r) noexcept {
        return r.status();
    }
    template <std::size_t Index, class Self>
    static auto& case_of(Self& self) {
        static_assert(Index < sizeof...(Results),
                      "weir: this select has fewer cases; they are counted from 0, in the order of its "
                      "arguments");
        if constexpr (Index < sizeof...(Results)) {
            if (auto* const it = std::get_if<Index>(&self.it_)) return *it;
            throw std::logic_error("weir: the select chose case " + std::to_string((self.it_.index)()) +
                                   ", and is asked for case " + std::to_string(Index) +
                                   "; look at its index() before");
        } else {
            return self.it_;
        }
    }

    std::variant<Results...> it_;
};

}  // namespace weir

#endif
