// weir graph: `zip`, which joins one item of each of several pipelines into a tuple
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_ZIP_HPP
#define WEIR_GRAPH_ZIP_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/graph/merge.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>
#include <weir/task/task.hpp>

#include <cstddef>          // for std::size_t
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <tuple>            // for std::apply, std::tuple
#include <type_traits>      // for std::conditional_t
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// The options of `zip`.
struct zip_options {
    std::string name = {};  ///< for statistics and reports; empty: `zip` and the place in the pipeline
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue behind the stage, in items, at least 1.
    std::size_t capacity = 2;
    /// The source location that reports show for the stage: of the options' braces, or of the call.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// The item type behind a `zip` of queues with items of types `C`.
template <class... C>
struct zipped {
    static constexpr bool with_epochs = (is_epoch_item<C> && ...);
    static_assert(with_epochs || !(is_epoch_item<C> || ...),
                  "weir: the pipelines that are zipped have to be all with epochs or all without");
    using row = std::tuple<carried_value_t<C>...>;
    using type = std::conditional_t<with_epochs, epoch_item<row>, row>;
};

template <class D>
struct joined_row {  // the state of the work on one row
    std::optional<D> row;
};

// The stage of a run that `zip` makes. Takes one item of each input by a task, `fetch`, and makes a row. The
// worker of the stage (stages/stage_worker.hpp) calls the functions for each row.
template <class Policy, class... C>
class running_zip : public stage_kind<nothing, typename zipped<C...>::type, Policy> {
    using D = typename zipped<C...>::type;
    using base = stage_kind<nothing, D, Policy>;
    using typename base::slot;
    static constexpr std::size_t size = sizeof...(C);

  public:
    using iteration = typename base::template iteration_with<joined_row<D>>;
    using input = task_intake;
    // The stage calls no function whose time counts. A row is made from all items in `row_`.
    static constexpr stage_traits traits{.counts_tasks = false, .origin = result_origin::all_held};

    running_zip(run_context& run, const stage_options& options, std::tuple<channel<C, Policy>*...> in,
                typename base::output_queue& out)
        : base(run, "zip", options, nullptr, &out), in_(in) {}

    void take(task_intake& next, slot& me, iteration& it) noexcept {
        next.prepare([this, &me] { return fetch<0>(me); }, it.error);
    }
    void work(iteration& it) { make(it.row, std::index_sequence_for<C...>()); }
    D* next_result(iteration& it) noexcept { return detail::pointer_to(it.row); }
    // Cancels all inputs: their remaining items have no partners.
    void close_input(slot&) noexcept {
        std::apply([](auto*... each) { (each->cancel(), ...); }, in_);
    }

  private:
    // For each input from number `Index` on: takes an item or an end-of-epoch mark into `row_`, unless `row_`
    // has one. A mark stays in `row_` until all inputs have ended the epoch. The result is false if an input
    // has ended.
    template <std::size_t Index>
    task<bool> fetch(slot& me) {
        if constexpr (Index == size) {
            co_return true;
        } else {
            auto& place = std::get<Index>(row_);
            if (!place) {
                auto& queue = *std::get<Index>(in_);
                get_operation<std::remove_reference_t<decltype(queue)>> get(queue, &me);
                auto item = co_await get;
                if (!item) co_return false;
                item_tracer tracer(me, result_origin::all_held);  // for traces that follow items
                if (tracer.is_on()) tracer.hold(detail::base_of(queue), get.number(), epoch_of(*item));
                detail::replace(place, std::move(item));
            }
            task<bool> rest = fetch<Index + 1>(me);
            const bool all = co_await std::move(rest);
            co_return all;
        }
    }

    template <class T>
    static std::uint64_t epoch_of(const epoch_item<T>& item) noexcept {
        return item.epoch();
    }
    template <class T>
    static std::uint64_t epoch_of(const T&) noexcept {
        return 0;
    }

    // Makes a row. If all inputs are at the end of an epoch, makes the mark; if only some inputs are, makes
    // nothing, and drops the items of the others.
    template <std::size_t... Index>
    void make(std::optional<D>& result, std::index_sequence<Index...>) {
        if constexpr (zipped<C...>::with_epochs) {
            const std::size_t at_end = (std::size_t(std::get<Index>(row_)->is_mark()) + ...);
            if (at_end == size) {
                result.emplace(D::end_of_epoch(std::get<0>(row_)->epoch()));
            } else if (at_end != 0) {
                (pass_over(std::get<Index>(row_)), ...);
                return;
            } else {
                provenance row_provenance;
                (row_provenance.add(std::move(std::get<Index>(row_)->item_provenance())), ...);
                typename zipped<C...>::row values(std::move(std::get<Index>(row_)->value())...);
                result.emplace(std::move(values), std::move(row_provenance));
            }
        } else {
            result.emplace(std::move(*std::get<Index>(row_))...);
        }
        (std::get<Index>(row_).reset(), ...);
    }
    template <class T>
    static void pass_over(std::optional<epoch_item<T>>& item) noexcept {
        // The epoch has ended in another input: an item of this epoch is dropped, a mark is kept.
        if (item->is_mark()) return;
        item.reset();
    }

    std::tuple<channel<C, Policy>*...> in_;
    std::tuple<std::optional<C>...> row_;  // the items and marks taken for the next row, by input
};

template <class... Inputs>
struct zip_stage : stage_of_inputs<Inputs...> {  // the description of a `zip`
    static constexpr const char* kind = "zip";
    using output = typename zipped<given_by_t<Inputs>...>::type;

    template <class... Given>
    explicit zip_stage(const zip_options& o, Given&&... from)
        : stage_of_inputs<Inputs...>(kind, o, std::forward<Given>(from)...) {}

    template <class Self, class Policy>
    static channel<output, Policy>& attach(Self&& self, run_core<Policy>& run) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "zips: it makes one row after the other, its concurrency is 1");
        const stage_options options = self.options;
        const auto in = zip_stage::attach_inputs(std::forward<Self>(self), run);
        auto& out = run.template add_queue<output>(options);
        std::vector<queue_id> inputs =
            std::apply([](auto*... each) { return std::vector<queue_id>{each...}; }, in);
        run.template add<stage_of<running_zip<Policy, given_by_t<Inputs>...>>>(std::move(inputs), {&out},
                                                                               options, in, out);
        return out;
    }

    template <class To>
    typename To::ends describe(To& to) const {
        return this->template describe_as<zip_stage>(to);
    }
};

// Whether `|` can copy the stage: `|` copies a stage that has a name, and moves others.
template <class... Inputs>
inline constexpr bool is_copyable<zip_stage<Inputs...>> = (is_copyable<Inputs> && ...);

}  // namespace detail

/// Joins pipelines, each with a source and without a sink, into one pipeline that gives rows. A row is a
/// `std::tuple` with one item of each pipeline.
///
///     auto p = weir::zip(images, labels) | weir::pipe(pair_up) | weir::sink();
///
/// Order:  kept. With epochs (passes over the data): an epoch has rows until it has ended in one input. The
///         zip then drops the items that other inputs still give in this epoch, and then ends the epoch.
/// Ends:   when one of the inputs has ended. Cancels all inputs then, and drops items without a partner. The
///         zip waits for one input at a time, in the order of the arguments: it sees the end or the failure
///         of an input only after each earlier input has given one more item. So an input that may end or
///         fail comes before one that may be silent for long: `zip(poses, camera)`.
/// Errors: a failure in an input, beyond those that `max_failures` allows, ends this input and the run, as in
///         any stage. No epoch ends after such a failure.
template <class... Inputs>
class [[nodiscard]] zip : public detail::joined_stage_t<detail::zip_stage, Inputs...> {
    static_assert(detail::are_pipelines<Inputs...>,
                  "weir: zip is given pipelines, one or more; an argument is none, or there is none");

  public:
    using described = detail::joined_stage_t<detail::zip_stage, Inputs...>;  // what `|` keeps

    /// \param settings  see `zip_options`.
    explicit zip(const zip_options& settings, Inputs&&... inputs)
        : described(settings, std::forward<Inputs>(inputs)...) {}
    /// With default options. \param where  the source location of the call, for reports.
    explicit zip(Inputs&&... inputs, std::source_location where = detail::call_place::current())
        : zip(zip_options{.where = where}, std::forward<Inputs>(inputs)...) {}
};
template <class... Inputs>
zip(const zip_options&, Inputs&&...) -> zip<Inputs...>;
template <class... Inputs>
zip(Inputs&&...) -> zip<Inputs...>;
// With a zip as its only argument, `zip` makes a new zip with one input, not a copy.
template <class... Inputs>
zip(zip<Inputs...>&) -> zip<zip<Inputs...>&>;
template <class... Inputs>
zip(const zip<Inputs...>&) -> zip<const zip<Inputs...>&>;
template <class... Inputs>
zip(zip<Inputs...>&&) -> zip<zip<Inputs...>>;

}  // namespace weir

#endif
