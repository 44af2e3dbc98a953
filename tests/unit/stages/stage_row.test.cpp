#include <weir/stages/stage_row.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using items::take_all;
using weir::virtual_time;
using weir::detail::given_by_row;
using weir::detail::is_copyable;
using weir::detail::is_pipeline;
using weir::detail::is_sink;
using weir::detail::is_stage_row;
using weir::detail::join;
using weir::detail::kept_options;
using weir::detail::no_stages;
using weir::detail::sink_stage;
using weir::detail::source_stage;
using weir::detail::stage_row;
using ints = std::vector<int>;
using names = std::vector<std::string>;

namespace {

int plus_1(int n) { return n + 1; }
int times_10(int n) { return 10 * n; }

// A row of the stages given, in their order.
auto row() { return no_stages(); }
template <class First, class... Rest>
auto row(First first, Rest... rest) {
    return join(stage_row<no_stages, First>{{}, std::move(first)}, row(std::move(rest)...));
}
template <class... Stages>
using row_of = decltype(row(std::declval<Stages>()...));

auto named(const char* name) { return weir::pipe(plus_1, {.name = name}); }

template <class Row>
names names_in(Row&& stages) {
    names all;
    const auto add = [&all](const kept_options& each) { all.push_back(each.name); };
    std::remove_cvref_t<Row>::each_options(stages, add);
    return all;
}

weir::task<ints> all_in(weir::channel<int>& from) {
    ints all;
    while (const std::optional<int> item = co_await from.get()) all.push_back(*item);
    co_return all;
}

using core = weir::detail::run_core<weir::measured>;
using source = source_stage<ints>;
using plus_stage = decltype(named(""));
using to_batches = decltype(weir::aggregate(2));
using for_each = decltype(weir::for_each([](int) {}));
using once = source_stage<weir::generator<int>>;
using boxes = source_stage<std::vector<std::unique_ptr<int>>>;

}  // namespace

// ---- what can be copied
static_assert(is_copyable<source> && is_copyable<plus_stage> && is_copyable<sink_stage>);
static_assert(!is_copyable<once>);
static_assert(std::is_copy_constructible_v<std::vector<std::unique_ptr<int>>> && !is_copyable<boxes>);
static_assert(is_copyable<source_stage<std::ranges::iota_view<int, int>>>);
static_assert(is_copyable<weir::pipeline<row_of<plus_stage>>>);
static_assert(!is_copyable<weir::pipeline<row_of<once, plus_stage>>>);
static_assert(row_of<>::copyable && row_of<source, plus_stage>::copyable);
static_assert(!row_of<once>::copyable && !row_of<once, plus_stage>::copyable && !row_of<boxes>::copyable);

// ---- what a row has
static_assert(row_of<>::size == 0 && row_of<plus_stage>::size == 1 &&
              row_of<source, plus_stage, sink_stage>::size == 3);
static_assert(row_of<plus_stage>::is_first && !row_of<plus_stage, plus_stage>::is_first);
static_assert(!row_of<>::begins && !row_of<plus_stage>::begins && row_of<source>::begins);
static_assert(row_of<source, plus_stage>::begins);
static_assert(!row_of<>::ends && !row_of<source, plus_stage>::ends && row_of<sink_stage>::ends);
static_assert(row_of<plus_stage, for_each>::ends);
static_assert(!row_of<>::complete && !row_of<source>::complete && !row_of<source, plus_stage>::complete);
static_assert(!row_of<sink_stage>::complete && !row_of<plus_stage, sink_stage>::complete);
static_assert(row_of<source, sink_stage>::complete && row_of<source, plus_stage, for_each>::complete);
static_assert(std::is_same_v<row_of<source, plus_stage>::last_type, plus_stage>);
static_assert(is_stage_row<no_stages> && is_stage_row<row_of<source, plus_stage>>);
static_assert(!is_stage_row<plus_stage> && !is_stage_row<weir::pipeline<row_of<plus_stage>>>);
static_assert(is_pipeline<weir::pipeline<row_of<plus_stage>>> && !is_pipeline<row_of<plus_stage>> &&
              !is_pipeline<int>);
static_assert(is_sink<sink_stage> && !is_sink<for_each> && !is_sink<plus_stage>);

// ---- the items behind a row
static_assert(std::is_same_v<row_of<>::output<std::string>, std::string>);
static_assert(std::is_same_v<row_of<plus_stage>::output<int>, int>);
static_assert(std::is_same_v<row_of<plus_stage, to_batches>::output<int>, ints>);
static_assert(std::is_same_v<row_of<to_batches, to_batches>::output<int>, std::vector<ints>>);
static_assert(std::is_same_v<given_by_row<row_of<source>>::type, int>);
static_assert(std::is_same_v<given_by_row<row_of<source, plus_stage, to_batches>>::type, ints>);
static_assert(std::is_same_v<given_by_row<row_of<source, to_batches, sink_stage>>::type, ints>);
// A second source is refused elsewhere, and changes nothing here.
static_assert(std::is_same_v<given_by_row<row_of<source, source_stage<names>>>::type, int>);

TEST_CASE("the stages of a row are visited from the first to the last") {
    CHECK(names_in(row()).empty());
    CHECK(names_in(row(named("a"))) == names{"a"});
    auto three = row(named("a"), named("b"), named("c"));
    CHECK(names_in(three) == names{"a", "b", "c"});
    const auto call = [](kept_options& each) { each.name += "!"; };
    decltype(three)::each_options(three, call);
    CHECK(names_in(std::as_const(three)) == names{"a!", "b!", "c!"});
}

TEST_CASE("a row visits its stages as what it is itself: constant, to be changed, or to be moved from") {
    auto two = row(named("a"), named("b"));
    using row_type = decltype(two);
    int constants = 0, lvalues = 0, rvalues = 0;
    const auto count = [&]<class S>(S&&) {
        constants += std::is_same_v<S, const kept_options&> ? 1 : 0;
        lvalues += std::is_same_v<S, kept_options&> ? 1 : 0;
    };
    row_type::each_options(two, count);
    CHECK(lvalues == 2);
    row_type::each_options(std::as_const(two), count);
    CHECK(constants == 2);
    row_type::apply(std::move(two),
                    [&]<class... S>(S&&...) { rvalues = ((std::is_same_v<S, plus_stage> ? 1 : 0) + ...); });
    CHECK(rvalues == 2);
}

TEST_CASE("all stages of a row are the arguments of one call, whose result is returned") {
    CHECK(no_stages::apply(row(), [] { return 7; }) == 7);
    auto three = row(named("a"), named("b"), named("c"));
    using row_type = decltype(three);
    const auto joined = [](const auto&... stages) { return (std::string() + ... + stages.options.name); };
    CHECK(row_type::apply(three, joined) == "abc");
    CHECK(row_type::apply(std::as_const(three), joined) == "abc");
    auto& first = row_type::apply(three, [](auto& stage, auto&...) -> auto& { return stage; });
    CHECK(&first == &three.before.before.last);
    const auto are_rvalues = [](auto&&... stages) {
        return (std::is_rvalue_reference_v<decltype(stages)> && ...);
    };
    CHECK(row_type::apply(std::move(three), are_rvalues));
}

TEST_CASE("rows are joined in their order, and an empty one changes nothing") {
    CHECK(names_in(join(row(), row())).empty());
    CHECK(names_in(join(row(named("a")), row())) == names{"a"});
    CHECK(names_in(join(row(), row(named("a"), named("b")))) == names{"a", "b"});
    CHECK(names_in(join(row(named("a"), named("b")), row(named("c"), named("d")))) ==
          names{"a", "b", "c", "d"});
    static_assert(std::is_same_v<decltype(join(row(), row(named("")))), row_of<plus_stage>>);
}

TEST_CASE("a join copies nothing of rows that may be moved from") {
    auto left = row(source_stage<std::vector<std::unique_ptr<int>>>(
        [] {
            std::vector<std::unique_ptr<int>> all;
            all.push_back(std::make_unique<int>(5));
            return all;
        }(),
        weir::source_options()));
    const int* const address = left.last.items[0].get();
    auto both = join(std::move(left), row(weir::aggregate(2)));
    CHECK(both.before.last.items[0].get() == address);
}

TEST_CASE("a row is added to a run stage by stage, and gives back the queue behind the last one") {
    virtual_time time;
    const auto stages =
        row(source(ints{1, 2, 3}, weir::source_options()), named("a"), weir::aggregate(2, {.name = "b"}));
    using row_type = std::remove_const_t<decltype(stages)>;
    core run(time, weir::detail::with_defaults({}));
    weir::channel<ints>& between = row_type::attach(stages, run);
    // Rows without a source follow behind that queue; an empty one is nothing.
    CHECK(&no_stages::attach(row(), run, between) == &between);
    const auto more = row(weir::disaggregate({.name = "c"}), named("d"));
    weir::channel<int>& last = std::remove_const_t<decltype(more)>::attach(more, run, between);
    run.start();
    CHECK(weir::sync_wait(time, all_in(last)) == ints{3, 4, 5});
    names found;
    for (const weir::stage_stats& each : run.stats().stages) found.push_back(each.name);
    CHECK(found == names{"src", "a", "b", "c", "d"});
    CHECK(stages.before.before.last.items == ints{1, 2, 3});
    run.stop();
}

TEST_CASE("a row that may be moved from gives its items away when it is added to a run") {
    virtual_time time;
    auto stages = row(source(ints{1, 2, 3}, weir::source_options()), named("a"));
    core run(time, weir::detail::with_defaults({}));
    weir::channel<int>& last = decltype(stages)::attach(std::move(stages), run);
    CHECK(stages.before.last.items.empty());  // NOLINT(bugprone-use-after-move): that is the test
    run.start();
    CHECK(weir::sync_wait(time, all_in(last)) == ints{2, 3, 4});
    run.stop();
}

TEST_CASE("functions that only move are moved into the run, behind a source and behind a queue") {
    virtual_time time;
    const auto adds = [](int n) { return [n = std::make_unique<int>(n)](int m) { return m + *n; }; };
    auto front = row(source(ints{1, 2, 3}, weir::source_options()), weir::pipe(adds(10)));
    auto back = row(weir::pipe(adds(100)), weir::pipe(adds(1000)));
    static_assert(!decltype(front)::copyable && !decltype(back)::copyable);
    core run(time, weir::detail::with_defaults({}));
    weir::channel<int>& between = decltype(front)::attach(std::move(front), run);
    weir::channel<int>& last = decltype(back)::attach(std::move(back), run, between);
    run.start();
    CHECK(weir::sync_wait(time, all_in(last)) == ints{1111, 1112, 1113});
    run.stop();
}

TEST_CASE("a run of a row that is stopped in the middle ends the queues behind its stages") {
    virtual_time time;
    const auto stages = row(source(ints(100, 1), weir::source_options()), named("a"));
    core run(time, weir::detail::with_defaults({}));
    weir::channel<int>& last = std::remove_const_t<decltype(stages)>::attach(stages, run);
    run.start();
    const auto one = weir::sync_wait(time, last.get());
    CHECK(one == 2);
    run.stop();
    CHECK(weir::sync_wait(time, all_in(last)).size() < 10);
    CHECK(last.closed());
}

TEST_CASE("parts of a pipeline are put together in any grouping") {
    virtual_time time;
    const auto head = weir::source({1, 2});
    const auto middle = weir::pipe(plus_1) | weir::pipe(times_10);
    const auto tail = weir::aggregate(2) | weir::sink();
    const std::vector<ints> expected = {{20, 30}};
    CHECK(take_all((head | middle | tail).start(time)) == expected);
    CHECK(take_all((head | (middle | tail)).start(time)) == expected);
    CHECK(take_all(((head | middle) | tail).start(time)) == expected);
    CHECK(take_all((head | weir::pipe(plus_1) | (weir::pipe(times_10) | tail)).start(time)) == expected);
}

TEST_CASE("a pipeline of many stages is a pipeline") {
    virtual_time time;
    const auto four = [](auto part) { return part | part | part | part; };
    const auto pipeline = weir::source({0, 1}) | four(four(weir::pipe(plus_1))) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == ints{16, 17});
}
