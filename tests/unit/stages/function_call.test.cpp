#include <weir/stages/function_call.hpp>

#include "support/catch.hpp"

#include <weir/stages/pipe_function.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using weir::invocation;
using weir::detail::function_call;
using weir::detail::pipe_types;

namespace {

template <class F, class In>
using call_of = function_call<pipe_types<F, In>, F, In>;

const std::string stage = "stage";
const invocation seventh(stage, 7, 0, 0, {});

}  // namespace

TEST_CASE("a function gets the item itself, and not a copy") {
    auto unwrap = [](std::unique_ptr<int> p) { return *p; };
    auto item = std::make_unique<int>(3);
    CHECK(call_of<decltype(unwrap), std::unique_ptr<int>>::invoke(unwrap, item, seventh) == 3);
    CHECK(item == nullptr);
}

TEST_CASE("a function that asks for it is told of the call") {
    auto number = [](int x, const invocation& call) { return call.item() * 10 + static_cast<unsigned>(x); };
    int item = 3;
    CHECK(call_of<decltype(number), int>::invoke(number, item, seventh) == 73);
}

TEST_CASE("a function that returns an empty optional gives no result") {
    auto even = [](int x) { return x % 2 == 0 ? std::optional<int>(x) : std::nullopt; };
    using call = call_of<decltype(even), int>;
    std::optional<int> result;
    call::keep(result, even(3));
    CHECK_FALSE(result.has_value());
    call::keep(result, even(4));
    CHECK(result == 4);
}
