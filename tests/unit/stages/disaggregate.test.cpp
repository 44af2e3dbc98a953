#include <weir/stages/disaggregate.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::virtual_time;
using ints = std::vector<int>;
using strings = std::vector<std::string>;

namespace {

// Takes a source's items apart, on virtual time.
template <class Source>
auto parts_of(Source&& source) {
    virtual_time time;
    auto pipeline = std::forward<Source>(source) | weir::disaggregate() | weir::sink();
    return take_all(std::move(pipeline).start(time));
}

// Throws when it is advanced to its third element.
class two_of_three {
  public:
    class iterator {
      public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int operator*() const { return at_; }
        iterator& operator++() {
            if (++at_ == 2) throw std::runtime_error("the third page is missing");
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return at_ == 3; }

      private:
        int at_ = 0;
    };
    static iterator begin() { return {}; }
    static std::default_sentinel_t end() { return {}; }
};

}  // namespace

TEST_CASE("the elements of each item become items, in order") {
    CHECK(parts_of(weir::source(std::vector<ints>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}})) ==
          ints{0, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(parts_of(weir::source(std::vector<std::list<int>>{{3, 1}, {2}})) == ints{3, 1, 2});
    CHECK(parts_of(weir::source(std::vector<std::array<int, 2>>{{1, 2}, {3, 4}})) == ints{1, 2, 3, 4});
    CHECK(parts_of(weir::source(strings{"ab", "c"})) == std::vector<char>{'a', 'b', 'c'});
    CHECK(parts_of(weir::source(std::vector<std::vector<bool>>{{true, false}})) ==
          std::vector<bool>{true, false});
    CHECK(parts_of(weir::source(std::vector<std::map<int, int>>{{{1, 2}, {3, 4}}})).size() == 2);
}

TEST_CASE("an empty item gives nothing") {
    CHECK(parts_of(weir::source(std::vector<ints>{{}, {1}, {}, {}, {2}, {}})) == ints{1, 2});
    CHECK(parts_of(weir::source(std::vector<ints>{{}, {}})).empty());
    CHECK(parts_of(weir::source(std::vector<ints>())).empty());
}

TEST_CASE("disaggregate gives back what aggregate gathered") {
    virtual_time time;
    for (const std::size_t size : {1U, 2U, 5U, 100U}) {
        const auto pipeline = weir::source(std::views::iota(0, 23)) | weir::aggregate(size) |
                              weir::disaggregate() | weir::sink();
        const ints given = take_all(pipeline.start(time));
        CAPTURE(size);
        REQUIRE(given.size() == 23);
        for (int i = 0; i < 23; ++i) CHECK(given.at(static_cast<std::size_t>(i)) == i);
    }
}

TEST_CASE("elements that only move are moved out") {
    virtual_time time;
    const auto boxed = [](int n) { return std::make_unique<int>(n); };
    const auto pipeline = weir::source({1, 2, 3}) | weir::pipe(boxed) | weir::aggregate(2) |
                          weir::disaggregate() | weir::sink();
    const auto given = take_all(pipeline.start(time));
    REQUIRE(given.size() == 3);
    CHECK(*given.at(2) == 3);
}

TEST_CASE("an item that only views its elements leaves them where they are") {
    strings kept = {"a name that is too long to be stored in place", "and another such name"};
    CHECK(parts_of(weir::source({std::span(kept)})) == kept);
    CHECK(kept.at(0).size() > 20);
    CHECK(kept.at(1).size() > 20);
}

TEST_CASE("elements are given as there is room, not all at once") {
    virtual_time time;
    items::ledger book(10);
    const auto five = [&book](int) {
        std::vector<items::counted> all;
        for (int i = 0; i < 5; ++i) all.emplace_back(book);
        return all;
    };
    {
        auto run =
            (weir::source({0, 0}) | weir::pipe(five) | weir::disaggregate({.capacity = 1}) | weir::sink(1))
                .start(time);
        CHECK(run.get()->number() == 0);
        CHECK(run.get()->number() == 1);
        CHECK(book.alive() == book.born() - 2);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("an item that breaks while it is taken apart fails the run behind its first elements") {
    virtual_time time;
    const auto pipeline =
        weir::source(std::vector<two_of_three>(3)) | weir::disaggregate({.name = "pages"}) | weir::sink();
    auto run = pipeline.start(time, {.max_failures = weir::unlimited});
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 1});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "pages");
    CHECK(end.failed->item() == 0);
    CHECK(end.inside == "the third page is missing");
}

TEST_CASE("each item that is taken apart is a task of the stage") {
    virtual_time time;
    auto run = (weir::source(std::vector<ints>{{1, 2, 3}, {}, {4}}) | weir::disaggregate() | weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 4);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).num_tasks == 3);
    CHECK(stats.channels.at(1).num_put == 4);
}

TEST_CASE("a disaggregate has its own name and capacity") {
    virtual_time time;
    auto run = (weir::source(std::vector<ints>{{1}}) | weir::disaggregate({.name = "d", .capacity = 9}) |
                weir::sink())
                   .start(time);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).kind == "disaggregate");
    CHECK(stats.channels.at(1).name == "d");
    CHECK(stats.channels.at(1).capacity == 9);
}
