// weir report: finds the structure of a pipeline: stages, types, edges, branches and executors
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DESCRIBE_HPP
#define WEIR_REPORT_DESCRIBE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/report/structure.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for SIZE_MAX, UINT64_MAX
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <tuple>        // for std::apply
#include <type_traits>  // for std::is_void_v
#include <typeinfo>     // for std::type_info
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// Removes from a type's name each template argument that begins with `beginning`, such as
// `, std::allocator<`: default arguments of standard templates.
void drop_arguments(std::string& text, std::string_view beginning);

// Unifies the names that compilers give to a type. Removes common default arguments of standard templates,
// inline and anonymous namespaces, `class`, `struct` and `enum`; shortens integer types and `std::string`.
std::string tidy_type_name(std::string text);

template <class T>
[[nodiscard]] std::string type_name() {
    return tidy_type_name(std::string(type_text<T>()));
}

// \returns the name of a type that is known at run time: `read_type_name(typeid(object).name())`.
[[nodiscard]] inline std::string read_type_name(const char* mangled) {
    return tidy_type_name(demangled(mangled));
}

// Whether two types are equal. Null stands for an unknown type, as type_of() of platform/config.hpp returns
// it without RTTI; null equals only null.
inline bool are_one_type(const std::type_info* a, const std::type_info* b) noexcept {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
}

// Builds a `pipeline_description`. The class of a stage has the members `options` (`stage_options`) and
// `output`, the type of the stage's results: in a source a type, in other stages a template over the type of
// the items that the stage takes. The class may also have:
// - `static constexpr const char* kind`: the stage's kind, which statistics show, too; without it "stage";
// - `std::string remark() const`: in few words, settings of the stage that are not in `options`;
// - the function `describe`, if the stage contains other stages, which are to be described, too:
//
//       template <class C, class To>    // C: the item type of its input queue; without C if it has no input
//       typename To::ends describe(To& to, typename To::ends from) const {
//           const auto begin = to.template stage<C, C>("route", options, from);
//           typename To::ends all;
//           all += to.template branch<C>("a", part_a, begin);
//           all += to.template branch<C>("b", part_b, begin);
//           return to.template stage<D, D>("join", options, all);
//       }
//
//   `To` is `description_builder`; as a template parameter, so that a stage's header need not include this
//   one. The function returns the stages from which the next stage takes. In a stage without an input queue
//   the function is
//
//       template <class To>             // its parts have sources: all += to.branch("a", part_a)
//       typename To::ends describe(To& to) const;
class description_builder {
  public:
    // The stages from whose output queues the next stage takes; none if the next stage is a source. Each
    // function that adds stages returns the `ends` of the added stages.
    class ends {
      public:
        ends& operator+=(ends other) {
            for (end& each : other.ends_) ends_.push_back(std::move(each));
            return *this;
        }

      private:
        friend description_builder;
        struct end {
            std::size_t stage;   // the index in `pipeline_description::stages`
            std::string branch;  // the branch that begins behind the stage; empty: none
        };
        std::vector<end> ends_;
    };

    // Adds a stage that takes from the stages `from`. `In` and `Out` are the item types of its input and
    // output queues; void: the stage has no such queue.
    template <class In, class Out>
    ends stage(std::string kind, const stage_options& options, const ends& from, std::string remark = {}) {
        described_stage s;
        s.name = options.name;
        s.kind = std::move(kind);
        s.remark = std::move(remark);
        if constexpr (!std::is_void_v<In>) s.takes = type_name<carried_value_t<In>>();
        if constexpr (!std::is_void_v<Out>) s.gives = type_name<carried_value_t<Out>>();
        s.concurrency = options.concurrency;
        if constexpr (!std::is_void_v<Out>) s.capacity = options.capacity;
        s.max_bytes = options.max_bytes;
        s.output_order = options.output_order;
        s.time_limit = options.time_limit;
        s.epochs = is_epoch_item<Out>;
        s.depth = depth_;
        s.where = place_text(options.where);
        const std::size_t place = result_.stages.size();
        for (const auto& each : from.ends_) result_.edges.push_back({each.stage, place, each.branch});
        result_.stages.push_back(std::move(s));
        executors_.push_back(options.executor);
        ends added;
        added.ends_.push_back({place, {}});
        return added;
    }

    // Adds a branch (a named part of a pipeline beside other parts) that has a source of its own.
    template <class Part>
    ends branch(std::string name, const Part& part) {
        const std::size_t place = enter(std::move(name));
        ends last = whole(part);
        leave(place);
        return last;
    }
    // Adds a branch that takes from the stages `from`.
    template <class In, class Part>
    ends branch(std::string name, const Part& part, ends from) {
        for (auto& each : from.ends_) each.branch = name;
        const std::size_t place = enter(std::move(name));
        ends last = rest<In>(part, std::move(from));
        leave(place);
        return last;
    }

    // Adds the stages of a part that has a source.
    template <class Part>
    ends whole(const Part& part) {
        return on_stages(part, [this](const auto& first, const auto&... others) {
            using S = std::remove_cvref_t<decltype(first)>;
            return this->template follow<typename S::output>(this->add_source(first), others...);
        });
    }
    // Adds the stages of a part that takes items of type `In` from the stages `from`.
    template <class In, class Part>
    ends rest(const Part& part, ends from) {
        return on_stages(part, [this, &from](const auto&... stages) {
            return this->template follow<In>(std::move(from), stages...);
        });
    }

    pipeline_description finish() &&;

  private:
    // Calls the function with all stages of a pipeline, or with the part if it is a single stage.
    template <class Part, class Function>
    static ends on_stages(const Part& part, Function function) {
        if constexpr (is_pipeline<Part>) {
            return std::remove_cvref_t<decltype(part.stages())>::apply(part.stages(), function);
        } else {
            return function(part);
        }
    }

    // Adds stages that follow each other; the first takes items of type `In` from the stages `from`.
    template <class In>
    static ends follow(ends from) {
        return from;
    }
    template <class In, class S, class... Rest>
    ends follow(ends from, const S& first, const Rest&... rest) {
        using Out = typename S::template output<In>;
        return follow<Out>(add_next<In, Out>(first, std::move(from)), rest...);
    }

    template <class S>
    ends add_source(const S& s) {
        if constexpr (requires { s.describe(*this); }) {
            return s.describe(*this);
        } else {
            return stage<void, typename S::output>(kind_of(s), s.options, ends(), remark_of(s));
        }
    }
    template <class In, class Out, class S>
    ends add_next(const S& s, ends from) {
        if constexpr (requires { s.template describe<In>(*this, std::move(from)); }) {
            return s.template describe<In>(*this, std::move(from));
        } else if constexpr (is_stage_list<S>) {
            S::each_options(s, [&](const stage_options& o) { from = stage<In, In>("stage", o, from); });
            return from;
        } else {
            return stage<In, Out>(kind_of(s), s.options, from, remark_of(s));
        }
    }

    template <class S>
    static std::string kind_of(const S&) {
        if constexpr (requires { std::string(S::kind); }) {
            return S::kind;
        } else {
            return "stage";
        }
    }

    template <class S>
    static std::string remark_of(const S& s) {
        if constexpr (requires { s.remark(); }) {
            return s.remark();
        } else {
            static_cast<void>(s);
            return {};
        }
    }
    template <class Batch, class Weigh>
    static std::string remark_of(const aggregate_stage<Batch, Weigh>& s) {
        std::string text = s.size == SIZE_MAX ? "" : std::to_string(s.size);
        const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
        if (s.most != UINT64_MAX) add("weight " + std::to_string(s.most));
        if (s.how.max_delay > duration(0)) add("within " + units::time(s.how.max_delay));
        if (s.how.drop_last) add("full only");
        return text;
    }

    // Begins a branch; returns its index. Stages that are added before leave() belong to the branch.
    std::size_t enter(std::string name) {
        const std::size_t here = result_.stages.size();
        result_.branches.push_back({std::move(name), depth_++, here, here});
        return result_.branches.size() - 1;
    }
    void leave(std::size_t branch) {
        --depth_;
        result_.branches[branch].end = result_.stages.size();
    }

    // \returns the type of the executor, with a number if the stages name several executors of this type;
    //          without RTTI `weir::executor`.
    std::string name_of(const executor& ex) const;
    // \returns the alias that users write, such as `weir::thread_pool`, for the name of a `weir::basic_...`
    //          template with the standard platform; every other name unchanged.
    static std::string short_name(std::string name);

    pipeline_description result_;
    std::vector<const executor*> executors_;  // of each stage; null: the executor of the run
    std::size_t depth_ = 0;                   // the number of branches that have begun and not ended
};

template <class P>
inline constexpr bool begins_with_source = is_source<P>;
template <class Row>
inline constexpr bool begins_with_source<pipeline<Row>> = Row::begins;

}  // namespace detail

/// \returns the structure of a pipeline: its stages with their types, and how they are connected.
///
///     std::cout << weir::describe(pipeline);
///
/// \tparam In       the item type that a part without a source takes: `describe<image>(decode | resize)`.
/// \param pipeline  a pipeline, or a part of one; it need not have a sink (last stage).
/// Errors:   `std::bad_alloc`.
/// Lifetime: the executors that the stages name must still exist, because their types are read.
template <class In = void, class P>
[[nodiscard]] pipeline_description describe(const P& pipeline) {
    constexpr bool composable = detail::composable<P>;
    static_assert(composable, "weir: what is described is a pipeline, a stage, or several put together by |");
    detail::description_builder to;
    if constexpr (!composable) {
        return {};
    } else if constexpr (std::is_void_v<In>) {
        constexpr bool begins = detail::begins_with_source<P>;
        static_assert(begins,
                      "weir: what a pipeline without a source is made of depends on the items that it is "
                      "given: describe<Item>(pipeline)");
        if constexpr (begins) to.whole(pipeline);
    } else {
        to.template rest<In>(pipeline, {});
    }
    return std::move(to).finish();
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/describe.ipp>
#endif

#endif
