// SPDX-License-Identifier: BSL-1.0
// Aggregates with members that need a destructor, as temporaries of an expression that awaits.
#include <array>
#include <memory>
#include <tuple>

#include "canary.hpp"

struct item {
    tracked t;
    int n = 0;
};

class closed_item {
  public:
    closed_item(tracked t, int n) : t_(std::move(t)), n_(n) {}
    int sum() const { return t_.value() + n_; }

  private:
    tracked t_;
    int n_;
};

struct point {
    int x, y;
};

inline int sum_of(const item& i) { return i.t.value() + i.n; }

inline later<int> send(item i) { return number(sum_of(i)); }
inline later<int> send_constant(const item& i) { return number(sum_of(i)); }
inline later<int> send_moved(item&& i) { return number(sum_of(i)); }
inline later<int> send_closed(closed_item i) { return number(i.sum()); }

inline task<int> send_later(item i) {
    co_await turn();
    co_return sum_of(i);
}

struct stream {
    struct promise_type : counted_frame {
        stream get_return_object() {
            return stream(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(item i) {
            sum += sum_of(i);
            return {};
        }
        void return_void() {}
        void unhandled_exception() { abort(); }
        int sum = 0;
    };
    explicit stream(std::coroutine_handle<promise_type> h) : frame(h) {}
    stream(const stream&) = delete;
    ~stream() { frame.destroy(); }
    std::coroutine_handle<promise_type> frame;
};

// bad braces: with its type's name
namespace typed {
task<bool> run() {
    const int n = co_await send(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace typed

// bad braces: parentheses behind its type's name, which make an aggregate since C++20
namespace parentheses {
task<bool> run() {
    const int n = co_await send(item(tracked(3), 2));
    co_return n == 5;
}
}  // namespace parentheses

// bad braces: parentheses, bound to `&&`
namespace parentheses_to_moved {
task<bool> run() {
    const int n = co_await send_moved(item(tracked(3), 2));
    co_return n == 5;
}
}  // namespace parentheses_to_moved

// bad braces: braces only
namespace braces_only {
task<bool> run() {
    const int n = co_await send({tracked(3), 2});
    co_return n == 5;
}
}  // namespace braces_only

// bad braces: designated initializers
namespace designated {
task<bool> run() {
    const int n = co_await send({.t = tracked(3), .n = 2});
    co_return n == 5;
}
}  // namespace designated

// bad braces: designated initializers with its type's name
namespace designated_typed {
task<bool> run() {
    const int n = co_await send(item{.t = tracked(3), .n = 2});
    co_return n == 5;
}
}  // namespace designated_typed

// bad braces: bound to `const &`
namespace to_constant {
task<bool> run() {
    const int n = co_await send_constant(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace to_constant

// bad braces: bound to `&&`
namespace to_moved {
task<bool> run() {
    const int n = co_await send_moved(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace to_moved

// bad braces: passed to a coroutine
namespace to_coroutine {
task<bool> run() {
    const int n = co_await send_later(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace to_coroutine

// bad braces: passed to a member function
namespace to_member {
struct queue {
    later<int> put(item i) { return number(sum_of(i)); }
};
task<bool> run() {
    queue q;
    const int n = co_await q.put(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace to_member

// bad braces: made from a name
namespace from_name {
task<bool> run() {
    tracked t(3);
    const int n = co_await send(item{t, 2});
    co_return n == 5;
}
}  // namespace from_name

// bad braces: a name is moved into it
namespace from_moved_name {
task<bool> run() {
    tracked t(3);
    const int n = co_await send(item{std::move(t), 2});
    co_return n == 5;
}
}  // namespace from_moved_name

// bad braces: inside of another one
namespace nested {
struct outer {
    item i;
    int m;
};
later<int> send_outer(outer o) { return number(sum_of(o.i) + o.m); }
task<bool> run() {
    const int n = co_await send_outer(outer{item{tracked(3), 2}, 1});
    co_return n == 6;
}
}  // namespace nested

// bad braces: an argument of a type with a constructor
namespace inside_constructor {
class wrapper {
  public:
    explicit wrapper(item i) : i_(std::move(i)) {}
    int sum() const { return sum_of(i_); }

  private:
    item i_;
};
later<int> send_wrapper(wrapper w) { return number(w.sum()); }
task<bool> run() {
    const int n = co_await send_wrapper(wrapper(item{tracked(3), 2}));
    co_return n == 5;
}
}  // namespace inside_constructor

// bad braces: inside of an optional
namespace inside_optional {
later<int> send_optional(std::optional<item> i) { return number(sum_of(*i)); }
task<bool> run() {
    const int n = co_await send_optional(item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace inside_optional

// bad braces: std::array
namespace standard_array {
later<int> send_array(std::array<tracked, 2> a) { return number(a[0].value() + a[1].value()); }
task<bool> run() {
    const int n = co_await send_array(std::array<tracked, 2>{tracked(3), tracked(2)});
    co_return n == 5;
}
}  // namespace standard_array

// bad braces: with a base class
namespace with_base {
struct derived : item {
    int more;
};
later<int> send_derived(derived d) { return number(sum_of(d) + d.more); }
task<bool> run() {
    const int n = co_await send_derived(derived{{tracked(3), 2}, 1});
    co_return n == 6;
}
}  // namespace with_base

// bad braces: a template's
namespace of_template {
template <class T>
struct box {
    T value;
};
later<int> send_box(box<tracked> b) { return number(b.value.value()); }
task<bool> run() {
    const int n = co_await send_box(box<tracked>{tracked(3)});
    co_return n == 3;
}
}  // namespace of_template

// bad braces: arguments deduced
namespace deduced {
template <class T>
struct box {
    T value;
};
template <class T>
box(T) -> box<T>;
later<int> send_box(box<tracked> b) { return number(b.value.value()); }
task<bool> run() {
    const int n = co_await send_box(box{tracked(3)});
    co_return n == 3;
}
}  // namespace deduced

// bad braces: with a pointer that owns memory
namespace owning_pointer {
struct parcel {
    std::unique_ptr<int> content;
    int n;
};
later<int> send_parcel(parcel p) { return number(*p.content + p.n); }
task<bool> run() {
    const int n = co_await send_parcel(parcel{std::make_unique<int>(3), 2});
    co_return n == 5;
}
}  // namespace owning_pointer

// other: the argument that is left out
namespace default_argument {
later<int> send_default(item i = {tracked(3), 2}) { return number(sum_of(i)); }
task<bool> run() {
    const int n = co_await send_default();
    co_return n == 5;
}
}  // namespace default_argument

// bad braces: called on a temporary
namespace member_of_temporary {
struct request {
    tracked t;
    later<int> perform() { return number(t.value()); }
};
task<bool> run() {
    const int n = co_await request{tracked(3)}.perform();
    co_return n == 3;
}
}  // namespace member_of_temporary

// bad braces: beside an await, not inside of it
namespace beside {
int add(item i, int n) { return sum_of(i) + n; }
task<bool> run() {
    const int n = add(item{tracked(3), 2}, co_await number(1));
    co_return n == 6;
}
}  // namespace beside

// bad braces: yielded
namespace yielded {
stream two() {
    co_yield item{tracked(3), 2};
    co_yield {tracked(1), 2};
}
bool run() {
    stream s = two();
    while (!s.frame.done()) s.frame.resume();
    return s.frame.promise().sum == 8;
}
}  // namespace yielded

// clean: made by a function
namespace made_by_function {
item make() { return {tracked(3), 2}; }
task<bool> run() {
    const int n = co_await send(make());
    co_return n == 5;
}
}  // namespace made_by_function

// bad braces: nothing between the braces
namespace empty_braces {
task<bool> run() {
    const int n = co_await send(item{});
    co_return n == 0;
}
}  // namespace empty_braces

// clean: parentheses do not call a constructor, but copy
namespace copied {
task<bool> run() {
    item i{tracked(3), 2};
    const int n = co_await send(item(i));
    co_return n == 5;
}
}  // namespace copied

// clean: only numbers
namespace of_numbers {
later<int> send_point(point p) { return number(p.x + p.y); }
task<bool> run() {
    const int n = co_await send_point(point{3, 2});
    const int m = co_await send_point({3, 2});
    co_return n == 5 && m == 5;
}
}  // namespace of_numbers

// clean: beside the await that it does not share an expression with
namespace made_before {
task<bool> run() {
    auto made = send(item{tracked(3), 2});
    const int n = co_await made;
    co_return n == 5;
}
}  // namespace made_before

// clean: a pair has constructors
namespace standard_pair {
later<int> send_pair(std::pair<tracked, int> p) { return number(p.first.value() + p.second); }
task<bool> run() {
    const int n = co_await send_pair(std::pair<tracked, int>{tracked(3), 2});
    const int m = co_await send_pair({tracked(3), 2});
    co_return n == 5 && m == 5;
}
}  // namespace standard_pair

// clean: a tuple has constructors
namespace standard_tuple {
later<int> send_tuple(std::tuple<tracked, int> t) { return number(std::get<0>(t).value()); }
task<bool> run() {
    const int n = co_await send_tuple(std::tuple<tracked, int>{tracked(3), 2});
    co_return n == 3;
}
}  // namespace standard_tuple

// workaround braces: the type has a constructor, which parentheses call
namespace with_constructor {
task<bool> run() {
    const int n = co_await send_closed(closed_item(tracked(3), 2));
    co_return n == 5;
}
}  // namespace with_constructor

// workaround braces: the type has a constructor, which braces call
namespace with_constructor_braces {
task<bool> run() {
    const int n = co_await send_closed(closed_item{tracked(3), 2});
    co_return n == 5;
}
}  // namespace with_constructor_braces

// workaround braces: it has a name and is moved in
namespace named_item {
task<bool> run() {
    item i{tracked(3), 2};
    const int n = co_await send(std::move(i));
    co_return n == 5;
}
}  // namespace named_item

// workaround braces: it has a name and is moved into a coroutine
namespace named_item_to_coroutine {
task<bool> run() {
    item i{tracked(3), 2};
    const int n = co_await send_later(std::move(i));
    co_return n == 5;
}
}  // namespace named_item_to_coroutine

// workaround braces: a name is yielded
namespace yielded_name {
stream two() {
    item first{tracked(3), 2};
    co_yield std::move(first);
    item second{tracked(1), 2};
    co_yield second;
}
bool run() {
    stream s = two();
    while (!s.frame.done()) s.frame.resume();
    return s.frame.promise().sum == 8;
}
}  // namespace yielded_name

// workaround braces: the awaitable makes it of what it is given
namespace emplaced {
class made {
  public:
    template <class... Args>
    explicit made(Args&&... args) : item_{std::forward<Args>(args)...} {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept { canary::post(h); }
    int await_resume() { return sum_of(item_); }

  private:
    item item_;
};
template <class... Args>
made emplace(Args&&... args) {
    return made(std::forward<Args>(args)...);
}
task<bool> run() {
    const int n = co_await emplace(tracked(3), 2);
    tracked named(4);
    const int m = co_await emplace(std::move(named), 2);
    co_return n == 5 && m == 6;
}
}  // namespace emplaced

// workaround braces: the awaitable is made in a statement of its own
namespace send_first {
task<bool> run() {
    auto made = send(item{tracked(3), 2});
    const int n = co_await made;
    co_return n == 5;
}
}  // namespace send_first
