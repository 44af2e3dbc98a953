// weir graph, internal: whether a split's chooser is asked for each element of a batch, or for all at once
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_BATCH_CHOOSER_HPP
#define WEIR_GRAPH_BATCH_CHOOSER_HPP

#include <weir/graph/branch.hpp>
#include <weir/stages/call_traits.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <stdexcept>    // for std::length_error
#include <string>       // for std::to_string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_convertible_v
#include <vector>       // for std::vector

namespace weir::detail {

template <class Choices>
struct one_of_choices {
    using type = int;
    static constexpr bool names = false;
};
template <std::ranges::input_range Choices>
struct one_of_choices<Choices> {
    using type = std::ranges::range_value_t<Choices>;
    static constexpr bool names = std::integral<type> || std::is_convertible_v<type, std::string_view>;
};

template <class Function>
struct the_batch_chooser {
    template <class Batch>
    struct is_given : call_traits<Function, const Batch&> {
        static constexpr bool fits = true;
        using chosen = one_of_choices<typename is_given::result>;
        static_assert(chosen::names,
                      "weir: a split's function that chooses for a whole batch returns a range with the name "
                      "or the place of a branch for each element, or something to await that gives one; the "
                      "types are those of the_batch_chooser<...>::is_given<...> in this message");
    };
};

// It is asked for each element where it can be.
template <class Function, class Batch, bool Whole>
struct split_choice_of : the_chooser<Function>::template is_given<typename Batch::value_type> {
    static constexpr bool is_of_batch = false;
};
template <class Function, class Batch>
struct split_choice_of<Function, Batch, true> : the_batch_chooser<Function>::template is_given<Batch> {
    static constexpr bool is_of_batch = true;
};
template <class Function, class Batch>
using split_choice = split_choice_of<Function, Batch,
                                     !callable<Function, const typename Batch::value_type&> &&
                                         callable<Function, const Batch&>>;

// The branches of all elements of a batch.
template <class Choices, class Batch>
std::vector<std::size_t> branches_of(Choices&& choices, Batch& batch, const branch_names& names) {
    using chosen = typename one_of_choices<std::remove_cvref_t<Choices>>::type;
    std::vector<std::size_t> all;
    for (auto&& each : choices) {
        const chosen where(each);  // of a vector<bool> it is a proxy
        all.push_back(names.index_of(where));
    }
    const auto elements = static_cast<std::size_t>(std::ranges::distance(batch.begin(), batch.end()));
    if (all.size() != elements) {
        throw std::length_error("weir: a split's function chose " + std::to_string(all.size()) +
                                " branches for the " + std::to_string(elements) +
                                " elements of a batch; it gives one for each, in their order");
    }
    return all;
}

}  // namespace weir::detail

#endif
