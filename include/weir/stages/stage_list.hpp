// weir stages: stages that are chosen at run time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_LIST_HPP
#define WEIR_STAGES_STAGE_LIST_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/stage.hpp>

#include <concepts>     // for std::same_as
#include <functional>   // for std::function
#include <memory>       // for std::shared_ptr
#include <type_traits>  // for std::is_copy_constructible_v, std::remove_cvref_t
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

// Named for the compiler's message about the static assertion, which contains `the_list_of<T>::is_given<U>`.
template <class T>
struct the_list_of {
    template <class Given>
    struct is_given {
        using type = carry_t<Given, T>;
        static_assert(std::same_as<carried_value_t<Given>, T>,
                      "weir: a stage_list<T> takes items of type T, and the stage before it gives "
                      "others; the types are those of the_list_of<...>::is_given<...> in this message");
    };
};

}  // namespace detail

/// Any number of stages that take and give items of type `T`, chosen at run time, for example from a
/// configuration. A list is used in a pipeline as a stage:
///
///     weir::stage_list<image> filters;
///     for (const auto& name : names) filters.add(weir::pipe(filter(name), {.name = name}));
///     auto p = weir::source(images) | filters | weir::sink();
///
/// A pipeline that is known at compile time needs no list. Cost: none for items; each stage is compiled for
/// each policy (what a run measures), with and without epochs (passes over the data).
///
/// \tparam Policies  the policies of its runs: `stage_list<image, weir::policies<weir::unmeasured>>`.
template <class T, class Policies = policies<measured, summed, unmeasured>>
class stage_list {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a stage_list takes and gives objects, which move: neither references nor constants");
    static_assert(detail::is_policies<Policies>,
                  "weir: a stage_list is compiled for a list of policies: "
                  "stage_list<T, weir::policies<weir::measured, weir::unmeasured>>");

  public:
    stage_list() = default;
    stage_list(const stage_list& other) {
        for (const auto& stage : other.stages_) stages_.push_back(stage->copy());
    }
    stage_list(stage_list&&) noexcept = default;
    stage_list& operator=(stage_list other) noexcept {
        stages_.swap(other.stages_);
        return *this;
    }

    /// Adds a stage behind the others.
    /// Errors: `std::bad_alloc`, and those of moving the stage; the list is then unchanged.
    template <detail::stage_description S>
    stage_list& add(S stage) {
        constexpr bool takes = requires { typename S::template output<T>; };
        static_assert(takes, "weir: a source can't stand in a stage_list: it takes no items");
        static_assert(std::is_copy_constructible_v<S>,
                      "weir: a stage of a stage_list has to be copyable, as each run gets a copy of "
                      "it; hold what only moves by std::shared_ptr");
        if constexpr (takes && std::is_copy_constructible_v<S>) {
            constexpr bool gives = std::same_as<typename S::template output<T>, T>;
            static_assert(gives,
                          "weir: a stage of a stage_list<T> has to give a T, which the next one takes");
            if constexpr (gives) stages_.push_back(detail::owned<any_stage>(new holder<S>(std::move(stage))));
        }
        return *this;
    }

    /// Rejects arguments other than a stage at compile time.
    template <class S>
        requires(!detail::stage_description<S>)
    stage_list& add(S&&) {
        static_assert(detail::stage_description<S>,
                      "weir: a stage_list is given one stage at a time; put a function into weir::pipe(...)");
        return *this;
    }

    template <class In>
    using output = typename detail::the_list_of<T>::template is_given<In>::type;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, detail::run_core<Policy>& run, channel<C, Policy>& in) {
        constexpr bool known = interfaces_for<Policies>::template has<Policy>;
        static_assert(known,
                      "weir: a stage_list runs with the policies that it was made for: "
                      "stage_list<T, weir::policies<...>>, if not with those that the library has");
        channel<C, Policy>* last = &in;
        if constexpr (known) {
            for (const auto& stage : self.stages_) last = &stage->attach(run, *last);
        }
        return *last;
    }

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        using options =
            std::conditional_t<std::is_const_v<Self>, const detail::kept_options, detail::kept_options>;
        for (const auto& stage : self.stages_) {
            stage->each_options([&function](detail::kept_options& o) { function(static_cast<options&>(o)); });
        }
    }

  private:
    // The interface of a type-erased stage, for one policy and one item type of its queues.
    template <class C, class Policy>
    class attachable {
      public:
        using run = detail::run_core<Policy>;
        using queue = channel<C, Policy>;
        virtual queue& attach(run&, queue& in) const = 0;

      protected:
        ~attachable() = default;
    };
    // The interface of a type-erased stage. `Interfaces`: an `attachable` for each policy and item type.
    template <class... Interfaces>
    class stage_interface : public Interfaces... {
      public:
        using Interfaces::attach...;
        virtual ~stage_interface() = default;
        virtual detail::owned<stage_interface> copy() const = 0;
        // Calls `function` with the options of the stage, and of the stages inside of it.
        virtual void each_options(const std::function<void(detail::kept_options&)>& function) = 0;
    };

    // Implements each interface: calls `attach` of the member `stage` of the derived class `Holder`.
    template <class Holder, class Interface, class... Interfaces>
    class attach_overrides : public Interface {};
    template <class Holder, class Interface, class First, class... Rest>
    class attach_overrides<Holder, Interface, First, Rest...>
        : public attach_overrides<Holder, Interface, Rest...> {
      public:
        using attach_overrides<Holder, Interface, Rest...>::attach;
        typename First::queue& attach(typename First::run& to, typename First::queue& in) const override {
            const auto& stage = static_cast<const Holder&>(*this).stage;
            return std::remove_cvref_t<decltype(stage)>::attach(stage, to, in);
        }
    };
    template <class... Interfaces>
    struct holders_of {
        using any = stage_interface<Interfaces...>;
        template <class S>
        struct holder final : attach_overrides<holder<S>, any, Interfaces...> {
            explicit holder(S s) : stage(std::move(s)) {}
            detail::owned<any> copy() const override { return detail::owned<any>(new holder(stage)); }
            void each_options(const std::function<void(detail::kept_options&)>& function) override {
                S::each_options(stage, function);
            }
            S stage;
        };
    };
    // The `attachable`s for a list of policies: for each policy one without epochs, and one with epochs.
    template <class>
    struct interfaces_for;
    template <class... Each>
    struct interfaces_for<policies<Each...>> {
        using type = holders_of<attachable<T, Each>..., attachable<detail::epoch_item<T>, Each>...>;
        template <class Policy>
        static constexpr bool has = (std::same_as<Policy, Each> || ...);
    };
    using holders = typename interfaces_for<Policies>::type;
    using any_stage = typename holders::any;
    template <class S>
    using holder = typename holders::template holder<S>;

    std::vector<detail::owned<any_stage>> stages_;
};

}  // namespace weir

#endif
