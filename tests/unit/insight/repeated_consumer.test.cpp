#include <weir/insight/repeated_consumer.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using weir::detail::consumer_of;
using weir::detail::is_copyable_item;
using weir::detail::is_usable_consumer;
using weir::detail::kept_item;
using box = std::unique_ptr<int>;

namespace {

// Its elements have its own type, as those of std::filesystem::path.
struct own_element {
    using value_type = own_element;
};
struct of_references {
    using value_type = int&;
};

struct by_value {
    int operator()(std::string text) const { return static_cast<int>(text.size()); }
};
struct by_reference {
    void operator()(std::string& text) const { text += "!"; }
};
struct by_const_reference {
    std::string operator()(const std::string& text) const { return text; }
};
struct by_rvalue {
    std::string operator()(std::string&& text) const { return std::move(text); }
};
struct takes_boxes {
    void operator()(box& item) const { *item += 1; }
};
struct sinks_boxes {
    void operator()(box) const {}
};
struct sinks_strings {
    void operator()(std::string&&) const {}
};

struct always_ready {
    bool await_ready() const noexcept { return true; }
    void await_suspend(auto) const noexcept {}
    void await_resume() const noexcept {}
};
struct gives_task {
    weir::task<> operator()(int) const { co_return; }
};
struct gives_value_task {
    weir::task<int> operator()(int n) const { co_return n; }
};
struct gives_awaiter {
    always_ready operator()(int) const { return {}; }
};
struct gives_co_await {
    struct result {
        always_ready operator co_await() && { return {}; }
    };
    result operator()(int) const { return {}; }
};

}  // namespace

// ---- whether an item can be copied
static_assert(is_copyable_item<int>());
static_assert(is_copyable_item<std::string>());
static_assert(is_copyable_item<std::vector<std::vector<std::string>>>());
static_assert(is_copyable_item<std::vector<bool>>());
static_assert(!is_copyable_item<box>());
static_assert(std::is_copy_constructible_v<std::vector<box>> && !is_copyable_item<std::vector<box>>());
static_assert(!is_copyable_item<std::vector<std::vector<box>>>());
static_assert(is_copyable_item<std::vector<std::shared_ptr<int>>>());
// No endless recursion, and no look at what is no object.
static_assert(is_copyable_item<own_element>());
static_assert(is_copyable_item<of_references>());
static_assert(is_copyable_item<std::filesystem::path>());

// ---- how a consumer is called
static_assert(consumer_of<by_value, std::string>::takes_lvalue);
static_assert(consumer_of<by_reference, std::string>::takes_lvalue);
static_assert(consumer_of<by_const_reference, std::string>::takes_lvalue);
static_assert(!consumer_of<by_rvalue, std::string>::takes_lvalue);
static_assert(consumer_of<by_rvalue, std::string>::is_possible);
static_assert(!consumer_of<by_value, box>::is_possible);
static_assert(std::is_void_v<consumer_of<by_value, box>::result>);
static_assert(std::is_same_v<consumer_of<by_value, std::string>::result, int>);
static_assert(std::is_same_v<consumer_of<by_rvalue, std::string>::result, std::string>);

// ---- whether the same item can be given to it again
static_assert(consumer_of<by_rvalue, std::string>::can_repeat);
static_assert(consumer_of<takes_boxes, box>::can_repeat);
static_assert(consumer_of<sinks_boxes, box>::is_possible && !consumer_of<sinks_boxes, box>::can_repeat);

// ---- whether it is a coroutine
static_assert(consumer_of<gives_task, int>::is_task && consumer_of<gives_task, int>::is_awaitable);
static_assert(!consumer_of<gives_value_task, int>::is_task);
static_assert(consumer_of<gives_value_task, int>::is_awaitable);
static_assert(consumer_of<gives_awaiter, int>::is_awaitable && !consumer_of<gives_awaiter, int>::is_task);
static_assert(consumer_of<gives_co_await, int>::is_awaitable && !consumer_of<gives_co_await, int>::is_task);
static_assert(!consumer_of<by_value, std::string>::is_awaitable);
static_assert(!consumer_of<by_value, std::string>::is_task);
static_assert(!consumer_of<sinks_strings, std::string>::is_awaitable);

// ---- what `headspace` takes; what it refuses is in tests/refusals/headspace_*.fail.cpp
static_assert(is_usable_consumer<std::string, by_value>());
static_assert(is_usable_consumer<std::string, by_reference>());
static_assert(is_usable_consumer<std::string, by_rvalue>());
static_assert(is_usable_consumer<box, takes_boxes>());
static_assert(is_usable_consumer<int, gives_task>());

TEST_CASE("a consumer gets the item itself if it takes an lvalue, and else the item is moved out") {
    std::string item = "a text that is too long for the object itself";
    const std::string whole = item;
    by_value values;
    by_reference references;
    by_rvalue rvalues;
    CHECK(consumer_of<by_value, std::string>::give(values, item) == static_cast<int>(whole.size()));
    CHECK(item == whole);
    consumer_of<by_reference, std::string>::give(references, item);
    CHECK(item == whole + "!");
    CHECK(consumer_of<by_rvalue, std::string>::give(rvalues, item) == whole + "!");
    CHECK(item.empty());
}

TEST_CASE("a consumer is called itself, not a copy, and its reference is passed on") {
    int calls = 0;
    auto counting = [&calls, mine = 0](int) mutable -> int& {
        calls = ++mine;
        return calls;
    };
    int item = 1;
    for (int i = 0; i < 3; ++i) consumer_of<decltype(counting), int>::give(counting, item);
    CHECK(calls == 3);
    CHECK(&consumer_of<decltype(counting), int>::give(counting, item) == &calls);
}

TEST_CASE("a consumer that returns a task is awaited by its caller") {
    weir::virtual_time time;
    int sum = 0;
    const auto adds = [&sum](int& n) -> weir::task<> {
        sum += n;
        co_return;
    };
    int item = 5;
    auto pending = consumer_of<decltype(adds), int>::give(adds, item);
    CHECK(sum == 0);
    weir::sync_wait(time, std::move(pending));
    CHECK(sum == 5);
}

TEST_CASE("a kept item that can be copied is a copy: changes leave the original, and it is destroyed early") {
    auto original = std::make_shared<int>(1);
    kept_item<std::shared_ptr<int>> item(original);
    CHECK(original.use_count() == 2);
    CHECK(&item.value() != &original);
    item.value() = std::make_shared<int>(2);
    CHECK(*original == 1);
    CHECK(original.use_count() == 1);
    item.value() = original;
    item.destroy();
    CHECK(original.use_count() == 1);
    item.destroy();
    CHECK(original.use_count() == 1);
}

TEST_CASE("a kept item is copied from a constant") {
    struct picky {
        picky() = default;
        picky(picky&) { throw 0; }
        picky(const picky&) {}
    };
    picky original;
    CHECK_NOTHROW(kept_item<picky>(original));
}

TEST_CASE("a kept item that can't be copied is the original, which stays when the kept item is destroyed") {
    box original = std::make_unique<int>(1);
    {
        kept_item<box> item(original);
        CHECK(&item.value() == &original);
        *item.value() = 2;
        item.destroy();
        CHECK(&item.value() == &original);
    }
    REQUIRE(original != nullptr);
    CHECK(*original == 2);
    std::vector<box> boxes;
    boxes.push_back(std::move(original));
    kept_item<std::vector<box>> batch(boxes);
    CHECK(&batch.value() == &boxes);
}
