// weir graph: `branch`, a named part of a pipeline, for `route` and `split`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_BRANCH_HPP
#define WEIR_GRAPH_BRANCH_HPP

#include <weir/channel/channel.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <concepts>     // for std::integral
#include <cstddef>      // for std::size_t
#include <stdexcept>    // for std::out_of_range
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::cmp_less
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// The result of `branch`. `Row`: the type of its row of stages.
template <class Row>
struct named_branch {
    template <class C>
    using output = typename Row::template output<C>;  // the item type behind the row; `C`: before it

    std::string name;
    pipeline<Row> part;
};

template <class B>
inline constexpr bool is_branch = false;
template <class Row>
inline constexpr bool is_branch<named_branch<Row>> = true;

// The first queues of the branches of a `route` or `split`. The stage that puts into them closes all of them
// at its end.
template <class Queue>
struct branch_queues {
    std::vector<Queue*> queues;
    void close() noexcept {
        for (Queue* const each : queues) each->close();
    }
    bool are_closed() const noexcept {
        for (const Queue* const each : queues) {
            if (!each->closed()) return false;
        }
        return true;
    }
};

// Finds the branch that a chooser (a function of the user) has chosen, by the name or the index of the
// branch. `index_of` throws std::out_of_range if there is no such branch.
class branch_names {
  public:
    explicit branch_names(std::vector<std::string> names) : names_(std::move(names)) {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                if (names_[i] != names_[k]) continue;
                throw std::invalid_argument("weir: two branches are named '" + names_[i] +
                                            "'; give each a name of its own");
            }
        }
    }

    const std::vector<std::string>& all() const noexcept { return names_; }
    std::size_t size() const noexcept { return names_.size(); }

    std::size_t index_of(std::integral auto chosen) const {
        const auto place = +chosen;  // makes an int of a bool
        if (std::cmp_less(place, names_.size()) && !std::cmp_less(place, 0)) {
            return static_cast<std::size_t>(place);
        }
        throw std::out_of_range("weir: an item was sent to branch " + std::to_string(place) + " of " +
                                std::to_string(names_.size()) + "; they are counted from 0");
    }
    std::size_t index_of(std::string_view name) const {
        std::string all;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] == name) return i;
            all += (all.empty() ? "'" : ", '") + names_[i] + "'";
        }
        throw std::out_of_range("weir: an item was sent to a branch named '" + std::string(name) +
                                "', and the branches are " + all);
    }
    // A null `name` counts as an empty one.
    std::size_t index_of(const char* name) const {
        return index_of(name != nullptr ? std::string_view(name) : std::string_view());
    }

  private:
    std::vector<std::string> names_;
};

// The traits of the call of a chooser, the function of the user that names a branch for an item.
template <class Function>
struct the_chooser {
    template <class Item>
    struct is_given : call_traits<Function, const Item&> {
        static constexpr bool fits = is_given::takes_item;  // the call is possible
        static_assert(fits,
                      "weir: the function that chooses a branch is called with a const item of the stage "
                      "before, and this one can't be; the types are those of "
                      "the_chooser<...>::is_given<...> in this message");
        using chosen = typename is_given::result;  // the type of a branch's name or index
        static constexpr bool names =
            std::integral<chosen> || std::is_convertible_v<chosen, std::string_view>;
        static_assert(names,
                      "weir: the function that chooses a branch returns its name or its place, which is a "
                      "whole number, or something to await that gives one; the types are those of "
                      "the_chooser<...>::is_given<...> in this message");
    };
};

// Asserts that several branches give items of one type, `type`.
template <class First, class... Given>
struct rejoined {
    using type = First;
    static_assert((std::is_same_v<First, Given> && ...),
                  "weir: the branches that are joined have to give items of one type; their types are "
                  "those of rejoined<...> in this message");
};

template <class... Branches>
inline constexpr bool are_branches = sizeof...(Branches) > 0 && (is_branch<Branches> && ...);

// The member `stage`: the base class of `route` and `split`. This is `Stage`, the description of the stage (a
// value from which each run makes the stage). But if an argument is not a branch, this is `no_stage`, and a
// static assertion in the derived class fails.
template <bool Fit, template <class...> class Stage, class Function, class... Branches>
struct divided_stage {
    using stage = no_stage;
};
template <template <class...> class Stage, class Function, class... Branches>
struct divided_stage<true, Stage, Function, Branches...> {
    using stage = Stage<kept_t<Function>, Branches...>;
};
template <template <class...> class Stage, class Function, class... Branches>
using divided_stage_t =
    typename divided_stage<are_branches<Branches...>, Stage, Function, Branches...>::stage;

// The base of the descriptions of stages that divide their items among branches, and join the results.
template <class Function, class... Branches>
struct stage_of_branches : stage_base {
    template <class G, class Options>
    stage_of_branches(const char* kind, G&& f, const Options& o, Branches... parts)
        : stage_base{detail::stage_options_of(o, kind)}, chooses(std::forward<G>(f)),
          names(std::vector<std::string>{parts.name...}), all_branches(std::move(parts)...) {}

    template <class Self, class Visitor>
    static void each_options(Self& self, Visitor function) {
        function(self.options);
        std::apply([&](auto&... each) { (decltype(each.part)::each_options(each.part, function), ...); },
                   self.all_branches);
    }

    Function chooses;
    branch_names names;
    std::tuple<Branches...> all_branches;

  protected:
    // For `weir::describe`, which lists the stages of a pipeline: adds the dividing stage, the branches and
    // the join to the list `to`, behind the stages `from`. Returns the join, from which the next stage takes.
    // `Part`: the item type of the branches' first queues.
    template <class C, class Part, class Output, class To>
    typename To::ends describe_as(const char* kind, To& to, typename To::ends from) const {
        const auto begin = to.template stage<C, C>(kind, options, from);
        typename To::ends all;
        const auto add = [&](const auto& each) {
            all += to.template branch<Part>(each.name, each.part, begin);
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, all_branches);
        return to.template stage<Output, Output>("join", options_of_join(), all);
    }

    stage_options options_of_join() const {  // those of the dividing stage, but for the name
        stage_options join = static_cast<const stage_options&>(options);
        join.name += "_join";
        return join;
    }

    // Adds to a run the dividing stage, and the branches behind this stage. The first queue of a branch has
    // the name of the branch. Returns the last queues of the branches.
    template <class Divider, class Part, class End, class Self, class Policy, class In, class... Args>
    static std::vector<channel<End, Policy>*> attach_branches(Self&& self, run_core<Policy>& run, In& in,
                                                              Args&&... args) {
        std::vector<channel<Part, Policy>*> begins;
        for (const std::string& name : self.names.all()) {
            stage_options named = static_cast<const stage_options&>(self.options);
            named.name = name;
            begins.push_back(&run.template add_queue<Part>(named));
        }
        // NOLINTBEGIN(bugprone-use-after-move): moves another member
        run.template add<Divider>({&in}, std::vector<queue_id>(begins.begin(), begins.end()), self.options,
                                  Function(std::forward<Self>(self).chooses), self.names, in, begins,
                                  std::forward<Args>(args)...);
        std::vector<channel<End, Policy>*> ends;
        const auto attach = [&](auto&& branch) {
            using part = decltype(branch.part);
            ends.push_back(
                &part::attach(std::forward<decltype(branch)>(branch).part, run, *begins[ends.size()]));
        };
        std::apply([&](auto&&... each) { (attach(std::forward<decltype(each)>(each)), ...); },
                   std::forward<Self>(self).all_branches);
        // NOLINTEND(bugprone-use-after-move)
        return ends;
    }
};

}  // namespace detail

/// \returns a branch for a `route` or a `split`.
///
/// \param name   the name by which the chooser (the function given to `route` or `split`) selects the branch;
///               also that of its first queue in statistics.
/// \param part   a stage, or several composed by `|`, without source and sink.
/// Errors: those of copying `part`, if it is an lvalue. `route` and `split` refuse equal names.
template <class Part>
[[nodiscard]] auto branch(std::string name, Part&& part) {
    static_assert(detail::composable<Part>,
                  "weir: a branch is made of a stage, or of several put together by |; put a function into "
                  "weir::pipe(...)");
    if constexpr (detail::composable<Part>) {
        using row = decltype(detail::stages_of(std::forward<Part>(part)));
        static_assert(!row::begins && !row::ends,
                      "weir: a branch has neither source nor sink, and no for_each: it stands between two "
                      "stages");
        return detail::named_branch<row>{std::move(name),
                                         pipeline<row>(detail::stages_of(std::forward<Part>(part)))};
    }
}
/// \returns a branch without stages, which passes items on. Errors: `std::bad_alloc`.
[[nodiscard]] inline auto branch(std::string name) {
    return detail::named_branch<detail::no_stages>{std::move(name),
                                                   pipeline<detail::no_stages>(detail::no_stages())};
}

}  // namespace weir

#endif
