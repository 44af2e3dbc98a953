// weir graph: a named part of a pipeline, beside others
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_BRANCH_HPP
#define WEIR_GRAPH_BRANCH_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <functional>   // for std::invoke
#include <optional>     // for std::optional
#include <stdexcept>    // for std::out_of_range
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::cmp_less
#include <vector>       // for std::vector

namespace weir {

/// Of `route`.
struct route_options {
    std::string name = "route";  ///< see `stage_options::name`
    /// Where the choosing and the joining run; null: where the run was started. Outlives the run.
    weir::executor* executor = nullptr;
    /// Of the queue before each branch and of that behind the join, in items, at least 1.
    std::size_t capacity = 2;
    /// For how many items the choice may fail: see `stage_options::max_failures`.
    std::optional<failure_limit> max_failures = std::nullopt;
};

namespace detail {

template <class... Stages>
struct named_branch {
    template <class C>
    using output = typename flow<C, Stages...>::type;

    std::string name;
    pipeline<Stages...> part;
};

template <class B>
inline constexpr bool is_branch = false;
template <class... Stages>
inline constexpr bool is_branch<named_branch<Stages...>> = true;

// What the last worker of a stage with branches closes.
template <class Queue>
struct all_of {
    std::vector<Queue*> queues;
    void close() noexcept {
        for (Queue* const each : queues) each->close();
    }
};

// From what a chooser returns to the branch.
class branch_names {
  public:
    explicit branch_names(std::vector<std::string> names) : names_(std::move(names)) {}

    static void check(const std::vector<std::string>& names) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                if (names[i] != names[k]) continue;
                throw std::invalid_argument("weir: two branches of a route are named '" + names[i] +
                                            "'; give each a name of its own");
            }
        }
    }

    std::size_t size() const noexcept { return names_.size(); }

    std::size_t place_of(std::integral auto chosen) const {
        const auto place = +chosen;  // a bool is 0 or 1
        if (std::cmp_less(place, names_.size()) && !std::cmp_less(place, 0)) {
            return static_cast<std::size_t>(place);
        }
        throw std::out_of_range("weir: an item was sent to branch " + std::to_string(place) + " of " +
                                std::to_string(names_.size()) + "; they are counted from 0");
    }
    std::size_t place_of(std::string_view name) const {
        std::string all;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] == name) return i;
            all += (all.empty() ? "'" : ", '") + names_[i] + "'";
        }
        throw std::out_of_range("weir: an item was sent to a branch named '" + std::string(name) +
                                "', and the branches are " + all);
    }

  private:
    std::vector<std::string> names_;
};

// Named so that the compiler's own messages read as sentences.
template <class F>
struct the_chooser {
    template <class Item>
    struct is_given {
        static constexpr bool fits = std::is_invocable_v<F&, const Item&>;
        static_assert(fits,
                      "weir: the function that chooses a branch is called with a const item of the stage "
                      "before, and this one can't be; the types are those of "
                      "the_chooser<...>::is_given<...> in this message");
        using type = typename std::conditional_t<fits, std::invoke_result<F&, const Item&>,
                                                 std::type_identity<std::size_t>>::type;
        static constexpr bool names =
            std::integral<awaited_t<type>> || std::is_convertible_v<awaited_t<type>, std::string_view>;
        static_assert(names,
                      "weir: the function that chooses a branch returns its name or its place, which is a "
                      "whole number, or something to await that gives one; the types are those of "
                      "the_chooser<...>::is_given<...> in this message");
    };
};

template <class First, class... Given>
struct rejoined {
    using type = First;
    static_assert((std::is_same_v<First, Given> && ...),
                  "weir: the branches that are joined have to give items of one type; their types are "
                  "those of rejoined<...> in this message");
};

// A stage that divides into branches, which are joined again.
template <class F, class... Branches>
struct stage_of_branches : stage_base {
    template <class G, class Options>
    stage_of_branches(G&& f, const Options& o, Branches... parts)
        : stage_base{detail::stage_options_of(o)}, chooser(std::forward<G>(f)),
          branches(std::move(parts)...) {}

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        function(self.options);
        std::apply([&](auto&... each) { (decltype(each.part)::each_options(each.part, function), ...); },
                   self.branches);
    }

    F chooser;
    std::tuple<Branches...> branches;

  protected:
    // `Part`: what the branches are given.
    template <class C, class Part, class Output, class To>
    typename To::ends describe_as(const char* kind, To& to, typename To::ends from) const {
        const auto begin = to.template stage<C, C>(kind, options, from);
        typename To::ends all;
        const auto add = [&](const auto& each) {
            all += to.template branch<Part>(each.name, each.part, begin);
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, branches);
        return to.template stage<Output, Output>("join", options_of_join(), all);
    }

    stage_options options_of_join() const {
        stage_options join = options;
        join.name += "_join";
        return join;
    }

    std::vector<std::string> names() const {
        return std::apply([](const auto&... each) { return std::vector<std::string>{each.name...}; },
                          branches);
    }

    // The queue before each branch, named as it is.
    template <class Part, class Policy>
    std::vector<channel<Part, Policy>*> add_queues(run_core<Policy>& run) const {
        stage_options named = options;
        std::vector<channel<Part, Policy>*> begins;
        for (std::string& name : names()) {
            named.name = std::move(name);
            begins.push_back(&run.template add_queue<Part>(named));
        }
        return begins;
    }
};

}  // namespace detail

/// One of the branches of a `route` or a `split`.
///
/// \param name   for the chooser, for statistics and failures.
/// \param part   a stage, or several put together by `|`, without source and sink; none: items pass.
/// Errors: those of copying `part`, if it is an lvalue. `route` and `split` look at the names.
template <class Part>
    requires detail::composable<Part>
[[nodiscard]] auto branch(std::string name, Part&& part) {
    return [&]<class... Stages>(std::tuple<Stages...> stages) {
        static_assert(!(detail::is_source<Stages> || ...) && !(detail::is_sink<Stages> || ...),
                      "weir: a branch has neither source nor sink: it stands between two stages");
        return detail::named_branch<Stages...>{std::move(name), pipeline<Stages...>(std::move(stages))};
    }(std::apply(
               [](auto&&... each) {
                   return std::tuple<std::remove_cvref_t<decltype(each)>...>(
                       std::forward<decltype(each)>(each)...);
               },
               detail::stages_of(std::forward<Part>(part))));
}
/// The same without stages.
[[nodiscard]] inline auto branch(std::string name) {
    return detail::named_branch<>{std::move(name), pipeline<>(std::tuple<>())};
}

/// What is no part of a pipeline gets a sentence.
template <class Part>
    requires(!detail::composable<Part>)
auto branch(std::string name, Part&&) {
    static_assert(detail::composable<Part>,
                  "weir: a branch is made of a stage, or of several put together by |; put a function into "
                  "weir::pipe(...)");
    return branch(std::move(name));
}

}  // namespace weir

#endif
