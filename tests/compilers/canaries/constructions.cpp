// SPDX-License-Identifier: BSL-1.0
// Objects that are constructed from an awaited value.
#include <array>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

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

inline int sum_of(const item& i) { return i.t.value() + i.n; }

// bad construct: new with parentheses
namespace new_object {
task<bool> run() {
    tracked* p = new tracked(co_await thing(3));
    const bool right = p->value() == 3;
    delete p;
    co_return right;
}
}  // namespace new_object

// bad construct: new of an aggregate
namespace new_aggregate {
task<bool> run() {
    item* p = new item{co_await thing(3), 2};
    const bool right = sum_of(*p) == 5;
    delete p;
    co_return right;
}
}  // namespace new_aggregate

// bad construct: an aggregate with parentheses
namespace parentheses {
task<bool> run() {
    const item i(co_await thing(3), 2);
    co_return sum_of(i) == 5;
}
}  // namespace parentheses

// bad construct: new into a unique_ptr
namespace new_owned {
task<bool> run() {
    std::unique_ptr<tracked> p(new tracked(co_await thing(3)));
    co_return p->value() == 3;
}
}  // namespace new_owned

// clean: new of a type that takes a number
namespace new_from_number {
task<bool> run() {
    tracked* p = new tracked(co_await number(3));
    const bool right = p->value() == 3;
    delete p;
    co_return right;
}
}  // namespace new_from_number

// bad construct: an aggregate is returned
namespace returned {
task<item> child() { co_return item{co_await thing(3), 2}; }
task<bool> run() {
    const item i = co_await child();
    co_return sum_of(i) == 5;
}
}  // namespace returned

// bad construct: an aggregate is returned, braces only
namespace returned_braces {
task<item> child() { co_return {co_await thing(3), 2}; }
task<bool> run() {
    const item i = co_await child();
    co_return sum_of(i) == 5;
}
}  // namespace returned_braces

// bad construct: the awaited value comes last
namespace returned_second {
struct backwards {
    int n;
    tracked t;
};
task<backwards> child() { co_return backwards{2, co_await thing(3)}; }
task<bool> run() {
    const backwards b = co_await child();
    co_return b.n + b.t.value() == 5;
}
}  // namespace returned_second

// bad construct: a variable
namespace variable {
task<bool> run() {
    item i{co_await thing(3), 2};
    co_return sum_of(i) == 5;
}
}  // namespace variable

// bad construct: a variable, with `=`
namespace variable_assigned {
task<bool> run() {
    item i = {co_await thing(3), 2};
    co_return sum_of(i) == 5;
}
}  // namespace variable_assigned

// bad construct: a variable, auto
namespace variable_auto {
task<bool> run() {
    auto i = item{co_await thing(3), 2};
    co_return sum_of(i) == 5;
}
}  // namespace variable_auto

// bad construct: a variable with designated initializers
namespace variable_designated {
task<bool> run() {
    item i{.t = co_await thing(3), .n = 2};
    co_return sum_of(i) == 5;
}
}  // namespace variable_designated

// bad construct: a variable of two awaited values
namespace variable_of_two {
struct couple {
    tracked a, b;
};
task<bool> run() {
    couple c{co_await thing(3), co_await thing(2)};
    co_return c.a.value() + c.b.value() == 5;
}
}  // namespace variable_of_two

// bad construct: only a number is awaited, another member needs a destructor
namespace variable_of_number {
task<bool> run() {
    item i{tracked(3), co_await number(2)};
    co_return sum_of(i) == 5;
}
}  // namespace variable_of_number

// bad construct: a member of an aggregate
namespace variable_nested {
struct outer {
    item i;
    int m;
};
task<bool> run() {
    outer o{{co_await thing(3), 2}, 1};
    co_return sum_of(o.i) + o.m == 6;
}
}  // namespace variable_nested

// bad construct: assigned
namespace assigned {
task<bool> run() {
    item i;
    i = item{co_await thing(3), 2};
    co_return sum_of(i) == 5;
}
}  // namespace assigned

// bad construct: an argument
namespace argument {
int take(item i) { return sum_of(i); }
task<bool> run() {
    const int n = take(item{co_await thing(3), 2});
    co_return n == 5;
}
}  // namespace argument

// bad construct: an argument, braces only
namespace argument_braces {
int take(item i) { return sum_of(i); }
task<bool> run() {
    const int n = take({co_await thing(3), 2});
    co_return n == 5;
}
}  // namespace argument_braces

// bad construct: pushed
namespace pushed {
task<bool> run() {
    std::vector<item> all;
    all.push_back({co_await thing(3), 2});
    co_return sum_of(all.front()) == 5;
}
}  // namespace pushed

// bad construct: an array
namespace array_variable {
task<bool> run() {
    tracked both[] = {co_await thing(3), co_await thing(2)};
    co_return both[0].value() + both[1].value() == 5;
}
}  // namespace array_variable

// bad construct: std::array
namespace standard_array {
task<bool> run() {
    std::array<tracked, 2> both{co_await thing(3), co_await thing(2)};
    co_return both[0].value() + both[1].value() == 5;
}
}  // namespace standard_array

// bad construct: thrown
namespace thrown {
task<bool> run() {
    bool caught = false;
    try {
        throw item{co_await thing(3), 2};
    } catch (const item& i) {
        caught = sum_of(i) == 5;
    }
    co_return caught;
}
}  // namespace thrown

// bad construct: new with an array
namespace new_array {
task<bool> run() {
    tracked* p = new tracked[1]{co_await thing(3)};
    const bool right = p->value() == 3;
    delete[] p;
    co_return right;
}
}  // namespace new_array

// bad construct: new where the awaited value goes into a call
namespace new_inner_call {
inline tracked twice(tracked t) { return tracked(2 * t.value()); }
task<bool> run() {
    tracked* p = new tracked(twice(co_await thing(3)));
    const bool right = p->value() == 6;
    delete p;
    co_return right;
}
}  // namespace new_inner_call

// bad construct: assigned, braces only
namespace assigned_braces {
task<bool> run() {
    item i;
    i = {co_await thing(3), 2};
    co_return sum_of(i) == 5;
}
}  // namespace assigned_braces

// clean: a tuple in braces, returned
namespace pair_returned {
task<std::pair<tracked, int>> child() { co_return {co_await thing(3), 2}; }
task<bool> run() {
    const auto p = co_await child();
    co_return p.first.value() + p.second == 5;
}
}  // namespace pair_returned

// bad construct: a lambda captures what it awaits
namespace captured {
task<bool> run() {
    auto f = [t = co_await thing(3)] { return t.value(); };
    co_return f() == 3;
}
}  // namespace captured

// clean: an optional in braces
namespace optional_braces {
task<bool> run() {
    std::optional<tracked> t{co_await thing(3)};
    co_return t->value() == 3;
}
}  // namespace optional_braces

// clean: a variable in braces
namespace tracked_braces {
task<bool> run() {
    tracked t{co_await thing(3)};
    co_return t.value() == 3;
}
}  // namespace tracked_braces

// clean: make_unique
namespace make_unique {
task<bool> run() {
    auto p = std::make_unique<tracked>(co_await thing(3));
    co_return p->value() == 3;
}
}  // namespace make_unique

// clean: a constructor's argument
namespace constructor {
task<bool> run() {
    closed_item i(co_await thing(3), 2);
    co_return i.sum() == 5;
}
}  // namespace constructor

// clean: a constructor's argument, braces
namespace constructor_braces {
task<bool> run() {
    closed_item i{co_await thing(3), 2};
    co_return i.sum() == 5;
}
}  // namespace constructor_braces

// clean: a temporary with a constructor is returned
namespace constructor_returned {
task<closed_item> child() { co_return closed_item(co_await thing(3), 2); }
task<bool> run() {
    const closed_item i = co_await child();
    co_return i.sum() == 5;
}
}  // namespace constructor_returned

// clean: a tuple of awaited values
namespace tuple {
task<bool> run() {
    std::tuple<tracked, int> t{co_await thing(3), 2};
    co_return std::get<0>(t).value() == 3;
}
}  // namespace tuple

// clean: a number in braces
namespace number_braces {
task<bool> run() {
    const int n{co_await number(3)};
    co_return n == 3;
}
}  // namespace number_braces

// clean: an aggregate of numbers
namespace numbers {
struct point {
    int x, y;
};
task<point> child() { co_return point{co_await number(3), 2}; }
task<bool> run() {
    const point p{co_await number(1), co_await number(2)};
    const point q = co_await child();
    co_return p.x + p.y + q.x + q.y == 8;
}
}  // namespace numbers

// clean: pushed and emplaced without braces
namespace pushed_plain {
task<bool> run() {
    std::vector<tracked> all;
    all.push_back(co_await thing(3));
    all.emplace_back(co_await number(2));
    co_return all[0].value() + all[1].value() == 5;
}
}  // namespace pushed_plain

// workaround construct: the awaited value has a name, then new
namespace named_then_new {
task<bool> run() {
    tracked t = co_await thing(3);
    tracked* p = new tracked(std::move(t));
    const bool right = p->value() == 3;
    delete p;
    co_return right;
}
}  // namespace named_then_new

// workaround construct: the awaited value has a name, then an aggregate is returned
namespace named_then_returned {
task<item> child() {
    tracked t = co_await thing(3);
    co_return item{std::move(t), 2};
}
task<bool> run() {
    const item i = co_await child();
    co_return sum_of(i) == 5;
}
}  // namespace named_then_returned

// workaround construct: the awaited value has a name, then a variable
namespace named_then_variable {
task<bool> run() {
    tracked t = co_await thing(3);
    item i{std::move(t), 2};
    co_return sum_of(i) == 5;
}
}  // namespace named_then_variable

// workaround construct: a member is assigned afterwards
namespace member_assigned {
task<bool> run() {
    item i;
    i.t = co_await thing(3);
    i.n = 2;
    co_return sum_of(i) == 5;
}
}  // namespace member_assigned
