// Braces in expressions that await.
#include "coroutine.hpp"

struct open_item {
    std::string name;
    int count = 0;
};

struct point {
    int x = 0, y = 0;
    const char* label = nullptr;
    std::size_t size;
};

class closed_item {
 public:
    explicit closed_item(std::string name);

 private:
    std::string name_;
};

struct also_closed {
    also_closed(std::string n) : name{std::move(n)}, count(0) {}
    std::string name;
    int count;
};

class hidden {
    std::string name_;
};

struct inheriting : also_closed {
    using also_closed::also_closed;
};

struct with_template_constructor {
    template <class T>
    explicit with_template_constructor(T&& t);
    std::string name;
};

task<> unsafe(channel& c, std::string s) {
    co_await c.put(open_item{s, 3});  // expect: braces
    co_await c.put({s, 3});  // expect: braces
    co_await c.put({.name = s, .count = 3});  // expect: braces
    co_await c.put(open_item{});  // expect: braces
    co_await c.put(unknown{s});  // expect: braces
    co_await c.put(ns::unknown<int>{s});  // expect: braces
    const bool taken = co_await c.put(
        open_item{  // expect: braces
            .name = s,
        });
    co_await c.put(closed_item(open_item{s}.name));  // expect: braces
    co_await c.put(closed_item{open_item{s}.name});  // expect: braces
    co_await sum({1, 2, 3});  // expect: braces
    co_await sum(std::vector<int>{1, 2, 3});  // expect: braces
    co_await sum(std::array<std::string, 1>{s});  // expect: braces
    use(open_item{s}, co_await which());  // expect: braces
    co_await c.put(open_item(s, 3));  // expect: braces
    co_await c.put(ns::open_item<int>("a"));  // expect: braces
    co_await open_item{s}.send();  // expect: braces
    co_yield open_item{s, 3};  // expect: braces
    co_yield {s, 3};  // expect: braces
    while (co_await c.put({s, 3})) work();  // expect: braces
    if (const bool b = co_await c.put({s, 3})) work(b);  // expect: braces
    for (auto& part : co_await parts({s, 3})) work(part);  // expect: braces
    auto f = [](channel& d) -> task<> { co_await d.put({"a", 3}); };  // expect: braces
}

enum class color : int { red };

struct open_range {
    std::string name;
};
auto open_range_of(std::string s, int n) { return open_range{s}; }

task<> safe(channel& c, std::string s) {
    co_await c.put(color{1});
    co_await c.put(closed_item{s});
    co_await c.put(also_closed(s, 3));
    co_await c.put(point(1, 2));
    co_await c.put(open_item(s));
    co_await c.put(std::move(open_range_of(s, 3)));
    co_await c.open_item(s, 3);
    co_await c.put(also_closed{s});
    co_await c.put(inheriting{s});
    co_await c.put(hidden{});
    co_await c.put(with_template_constructor{s});
    co_await c.put(point{1, 2});
    co_await c.put(std::string{s});
    co_await c.put(std::pair<std::string, int>{s, 1});
    co_await c.put(std::chrono::milliseconds{5});
    co_await c.put(int{3});
    co_await c.put(static_cast<double>(int{3}));
    co_await c.put(unknown{});
    co_await c.put({});
    co_await std::suspend_always{};
    open_item i{s, 3};
    co_await c.put(std::move(i));
    auto made = c.put(open_item{s, 3});
    co_await made;
    std::vector<int> v{1, 2, 3};
    const auto f = [](std::string t) -> task<open_item> { co_return open_item{t, 3}; };
    if constexpr (requires { typename open_item; }) co_await turn();
    // weir-lint: allow braces unknown has a constructor
    co_await c.put(unknown{s});
}
