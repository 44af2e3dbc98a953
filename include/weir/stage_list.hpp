// weir floor 10: stages that are chosen at run time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGE_LIST_HPP
#define WEIR_STAGE_LIST_HPP

#include <weir/channel.hpp>
#include <weir/policy.hpp>
#include <weir/run_core.hpp>
#include <weir/stage.hpp>

#include <concepts>  // for std::same_as
#include <memory>    // for std::unique_ptr
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

namespace detail {

// Named so that the compiler's own message reads as a sentence.
template <class T>
struct the_list_of {
    template <class Given>
    struct is_given {
        using type = T;
        static_assert(std::same_as<Given, T>,
                      "weir: a stage_list<T> takes items of type T, and the stage before it gives "
                      "others; the types are those of the_list_of<...>::is_given<...> in this message");
    };
};

}  // namespace detail

/// Any number of stages, each of which takes and gives a `T`, for a pipeline that is read from a
/// file. It stands in a pipeline like a stage:
///
///     weir::stage_list<image> filters;
///     for (const auto& name : names) filters.add(weir::pipe(filter(name), {.name = name}));
///     auto p = weir::source(images) | filters | weir::sink();
///
/// A pipeline that is known when it is compiled needs no list. Cost: none while it runs.
template <class T>
class stage_list {
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

    /// Puts a stage behind the others.
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
            if constexpr (gives) stages_.push_back(std::make_unique<holder<S>>(std::move(stage)));
        }
        return *this;
    }

    template <class In>
    using output = typename detail::the_list_of<T>::template is_given<In>::type;

    template <class Self, class Policy>
    static channel<T, Policy>& attach(Self&& self, detail::run_core<Policy>& run,
                                      channel<T, Policy>& in) {
        channel<T, Policy>* last = &in;
        for (const auto& stage : self.stages_) last = &stage->attach(run, *last);
        return *last;
    }

    template <class Function>
    void each_options(Function function) {
        for (const auto& stage : stages_) function(stage->options());
    }
    template <class Function>
    void each_options(Function function) const {
        for (const auto& stage : stages_) function(std::as_const(stage->options()));
    }

  private:
    class any_stage {
      public:
        virtual ~any_stage() = default;
        virtual std::unique_ptr<any_stage> copy() const = 0;
        virtual stage_options& options() noexcept = 0;
        virtual channel<T, measured>& attach(detail::run_core<measured>& run,
                                             channel<T, measured>& in) const = 0;
        virtual channel<T, summed>& attach(detail::run_core<summed>& run,
                                           channel<T, summed>& in) const = 0;
        virtual channel<T, unmeasured>& attach(detail::run_core<unmeasured>& run,
                                               channel<T, unmeasured>& in) const = 0;
    };

    template <class S>
    class holder final : public any_stage {
      public:
        explicit holder(S stage) : stage_(std::move(stage)) {}
        std::unique_ptr<any_stage> copy() const override { return std::make_unique<holder>(stage_); }
        stage_options& options() noexcept override { return stage_.options; }
        channel<T, measured>& attach(detail::run_core<measured>& run,
                                     channel<T, measured>& in) const override {
            return S::attach(stage_, run, in);
        }
        channel<T, summed>& attach(detail::run_core<summed>& run,
                                   channel<T, summed>& in) const override {
            return S::attach(stage_, run, in);
        }
        channel<T, unmeasured>& attach(detail::run_core<unmeasured>& run,
                                       channel<T, unmeasured>& in) const override {
            return S::attach(stage_, run, in);
        }

      private:
        S stage_;
    };

    std::vector<std::unique_ptr<any_stage>> stages_;
};

}  // namespace weir

#endif
