// Objects made from what is awaited.
#include "coroutine.hpp"

struct open_item {
    std::string name;
    int count = 0;
};

struct closed_item {
    closed_item(std::string name, int count);
};

struct point {
    int x, y;
};

task<open_item> unsafe(channel& c) {
    auto* a = new item(co_await name());  // expect: construct
    auto* b = new item{co_await name(), 3};  // expect: construct
    auto* d = ::new (place) item(3, co_await name());  // expect: construct
    std::unique_ptr<item> e(new ns::item<int>(co_await name()));  // expect: construct
    open_item f{co_await name(), 3};  // expect: construct
    open_item g = {co_await name(), 3};  // expect: construct
    auto h = open_item{co_await name()};  // expect: construct
    open_item i{.name = co_await name()};  // expect: construct
    f = {co_await name(), 3};  // expect: construct
    take(open_item{co_await name(), 3});  // expect: construct
    all.push_back({co_await name(), 3});  // expect: construct
    std::vector<int> v{co_await which(), co_await which()};  // expect: construct
    std::vector<int> w = {co_await which(), 3};  // expect: construct
    const int m = std::max({co_await which(), 3});  // expect: construct
    std::string both[] = {co_await name(), co_await name()};  // expect: construct
    auto k = [n = co_await name()] { return n; };  // expect: construct
    auto l = [&, n = std::move(co_await name())]() mutable { return n; };  // expect: construct
    closed_item both_closed[] = {closed_item(co_await name(), 3)};  // expect: construct
    outer o{{co_await name(), 3}, 4};  // expect: construct
    open_item p(co_await name(), 3);  // expect: construct
    take(open_item(3, co_await name()));  // expect: construct
    for (const auto& each : {co_await name(), co_await name()}) work(each);  // expect: construct
    throw open_item{co_await name(), 3};  // expect: construct
    co_return {co_await name(), 3};  // expect: construct
    co_return open_item{  // expect: construct
        co_await name(), 3};
}

task<open_item> safe(channel& c) {
    closed_item a{co_await name(), 3};
    closed_item b = {co_await name(), 3};
    closed_item d(co_await name(), 3);
    const int n{co_await which()};
    const auto& [u, v]{co_await both()};
    auto w{co_await name()};
    int all_of_them[] = {co_await which(), co_await which()};
    const point p{co_await which(), co_await which()};
    const auto q = point{co_await which(), 3};
    auto e = std::make_unique<item>(co_await name());
    std::tuple<std::string, int> t{co_await name(), 3};
    std::optional<std::string> s{co_await name()};
    const auto f = [](channel& in) -> task<> { co_await in.get(); };
    auto g = new item(3);
    auto h = co_await name();
    open_item i{std::move(h), 3};
    i.name = co_await name();
    all.push_back(co_await name());
    all.emplace_back(co_await name(), 3);
    open_item j(co_await item_of(c));
    closed_item k2(co_await name(), 3);
    co_return open_item{i.name, 3};
}
