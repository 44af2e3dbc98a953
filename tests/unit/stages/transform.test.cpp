#include <weir/stages/transform.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

using items::take_all;
using weir::virtual_time;
using weir::detail::transform_stage;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// Gives each item as often as its value says; at an end, -1; wants no more after a 9; breaks at 13.
class echo_op {
  public:
    void push(int&& item, std::optional<int>&) {
        value_ = left_ = item;
        if (value_ == 13) throw std::runtime_error("13");
    }
    void pop(std::optional<int>& result) {
        if (left_ == 0) return;
        result = left_ < 0 ? left_ : value_;
        left_ -= left_ < 0 ? -1 : 1;
    }
    void end(std::optional<int>&) noexcept { left_ = -1; }
    bool finished() const noexcept { return value_ == 9; }

  private:
    int value_ = 0;
    int left_ = 0;
};

struct echo_stage : transform_stage<echo_stage> {
    static constexpr const char* kind = "echo";
    static constexpr const char* one_slot = "echoes: its concurrency is 1";

    echo_stage() { options.name = kind; }
    template <class T>
    static echo_op op(const echo_stage&) {
        return {};
    }
};

// Drops an item whose key was seen before.
template <class T, class Key>
class dedupe_op {
  public:
    explicit dedupe_op(Key key) : key_(std::move(key)) {}

    void push(T&& item, std::optional<T>& result) {
        if (seen_.insert(std::invoke(key_, std::as_const(item))).second) result.emplace(std::move(item));
    }

  private:
    Key key_;
    std::set<std::decay_t<std::invoke_result_t<Key&, const T&>>> seen_;
};

template <class Key>
struct dedupe_stage : transform_stage<dedupe_stage<Key>> {
    static constexpr const char* kind = "dedupe";
    static constexpr const char* one_slot = "compares each item with all before it: its concurrency is 1";

    explicit dedupe_stage(Key k) : key(std::move(k)) { this->options.name = kind; }

    template <class T>
    static auto op(const dedupe_stage& self) {
        return dedupe_op<T, Key>(self.key);
    }

    Key key;
};

}  // namespace

TEST_CASE("an operation may drop an item, in any epoch") {
    virtual_time time;
    const auto last_digit = [](const int& i) { return i % 10; };
    auto run =
        (weir::source(weir::epochs(ints{1, 2, 11, 3, 12}, 2)) | dedupe_stage(last_digit) | weir::sink())
            .start(time);
    CHECK(take_all(run) == ints{1, 2, 3});
    const auto stats = run.stats();
    CHECK(stats.stages[1].kind == "dedupe");
    CHECK(stats.stages[1].num_tasks == 10);
    CHECK(stats.stages[1].num_failures == 0);
}

TEST_CASE("what an op has for one item leaves in a row, and what it has at the end, too") {
    virtual_time time;
    auto run = (weir::source({2, 0, 3}) | echo_stage() | weir::sink()).start(time);
    CHECK(take_all(run) == ints{2, 2, 3, 3, 3, -1});
    const auto stats = run.stats();
    CHECK(stats.stages[1].kind == "echo");
    CHECK(stats.stages[1].num_tasks == 3);  // the end is no task
    CHECK(stats.stages[1].times().total() == stats.stages[1].elapsed);
}

TEST_CASE("an op ends with each epoch") {
    virtual_time time;
    auto run = (weir::source(weir::epochs(ints{1, 2}, 2)) | echo_stage() | weir::sink()).start(time);
    std::vector<ints> epochs;
    for (auto& epoch : run.epochs()) {
        epochs.emplace_back();
        for (const int i : epoch) epochs.back().push_back(i);
    }
    // The stream's end is one as well, but comes behind the last epoch's.
    REQUIRE(epochs.size() >= 2);
    CHECK(epochs[0] == ints{1, 2, 2, -1});
    CHECK(epochs[1] == ints{1, 2, 2, -1});
}

TEST_CASE("an op that wants no more ends the stage, and what is before it") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(7)) | echo_stage() | weir::sink()).start(time);
    CHECK(take_all(run).size() == 7 + 8 + 9);
    CHECK(run.stats().channels[0].num_put < 10);
}

TEST_CASE("an op that throws stops the run behind what it gave before") {
    virtual_time time;
    auto run = (weir::source({1, 13, 1}) | echo_stage() | weir::sink()).start(time);
    CHECK(run.get() == 1);
    CHECK_THROWS_AS(run.get(), weir::pipeline_failure);
    CHECK_FALSE(run.get());
}

TEST_CASE("an item at which an op throws is no task that was done") {
    virtual_time time;
    auto run = (weir::source({1, 2, 13}) | echo_stage() | weir::sink()).start(time);
    CHECK(items::take_until_failure(run).taken == ints{1, 2, 2});
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).task_times.count() == 2);
}

TEST_CASE("a transform has one slot") {
    virtual_time time;
    echo_stage two;
    two.options.concurrency = 2;
    CHECK(items::message_of([&] {
              static_cast<void>((weir::source({1}) | two | weir::sink()).start(time));
          }) == "weir: stage 'echo' echoes: its concurrency is 1");
}
