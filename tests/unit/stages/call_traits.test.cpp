#include <weir/stages/call_traits.hpp>

#include "support/catch.hpp"

#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

using weir::async_generator;
using weir::generator;
using weir::invocation;
using weir::task;
using weir::detail::awaited_t;
using weir::detail::call_traits;
using weir::detail::callable;

static_assert(std::is_same_v<awaited_t<int>, int>);
static_assert(std::is_same_v<awaited_t<const std::string&>, std::string>);
static_assert(std::is_same_v<awaited_t<task<std::string>>, std::string>);
static_assert(std::is_same_v<awaited_t<task<std::optional<int>>>, std::optional<int>>);
static_assert(std::is_same_v<awaited_t<task<void>>, void>);
static_assert(std::is_same_v<awaited_t<decltype(weir::yield())>, bool>);
static_assert(std::is_same_v<awaited_t<generator<int>>, generator<int>>);

static_assert(weir::detail::is_optional<std::optional<int>>);
static_assert(!weir::detail::is_optional<int*>);
static_assert(weir::detail::is_generator<generator<int&>>);
static_assert(!weir::detail::is_generator<std::vector<int>>);
static_assert(weir::detail::is_async_generator<async_generator<int>>);
static_assert(!weir::detail::is_async_generator<generator<int>>);

namespace {

struct box {
    std::string text;
    int size() const { return static_cast<int>(text.size()); }
};
using by_value = int (*)(box);
using by_constant = task<int> (*)(const box&);
using by_reference = int (*)(box&);
using by_rvalue = generator<int> (*)(box&&);
using with_the_call = void (*)(box, const invocation&);

static_assert(callable<by_value, box> && callable<by_constant, box> && callable<by_rvalue, box>);
static_assert(callable<by_reference, box&> && !callable<by_reference, box>);
static_assert(!callable<by_value, const std::string&> && !callable<int, box>);
static_assert(callable<int (box::*)() const, box> && callable<std::string box::*, const box&>);
static_assert(!callable<int (box::*)() const, std::string>);

static_assert(call_traits<by_value, box>::takes_item && !call_traits<by_value, box>::takes_call);
static_assert(!call_traits<by_value, box>::waits && !call_traits<by_value, box>::gives_many);
static_assert(call_traits<by_constant, const box&>::waits);
static_assert(std::is_same_v<call_traits<by_constant, const box&>::result, int>);
static_assert(call_traits<by_rvalue, box>::gives_many);
static_assert(!call_traits<by_rvalue, const box&>::fits);
static_assert(call_traits<with_the_call, box>::takes_call && call_traits<with_the_call, box>::is_void);
static_assert(std::is_same_v<call_traits<std::string box::*, box&>::call, std::string&>);

int nth(const box& b, const invocation& which) { return b.size() + static_cast<int>(which.item()); }
int sum(const std::unique_ptr<int>& one) { return *one; }

}  // namespace

TEST_CASE("a function is called with the item, and with the invocation if it takes that, too") {
    const std::string stage = "stage";
    const invocation seventh(stage, 7, 0, 0, weir::stop_token());
    auto size = &box::size;
    auto both = nth;
    CHECK(weir::detail::call(size, box{"four"}, nullptr) == 4);
    CHECK(weir::detail::call(both, box{"four"}, &seventh) == 11);
    auto first = sum;
    CHECK(weir::detail::call(first, std::make_unique<int>(1), nullptr) == 1);
}
