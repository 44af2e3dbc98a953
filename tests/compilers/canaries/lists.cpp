// SPDX-License-Identifier: BSL-1.0
// Initializer lists in expressions that await.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <vector>

#include "canary.hpp"

inline later<int> sum(std::initializer_list<int> list) {
    int n = 0;
    for (int i : list) n += i;
    return number(n);
}

inline later<int> sum_vector(std::vector<int> list) {
    int n = 0;
    for (int i : list) n += i;
    return number(n);
}

inline later<int> sum_things(std::initializer_list<tracked> list) {
    int n = 0;
    for (const tracked& t : list) n += t.value();
    return number(n);
}

// bad braces: numbers for an initializer_list
namespace of_numbers {
task<bool> run() {
    const int n = co_await sum({1, 2, 3});
    co_return n == 6;
}
}  // namespace of_numbers

// bad braces: numbers for a vector
namespace for_vector {
task<bool> run() {
    const int n = co_await sum_vector({1, 2, 3});
    co_return n == 6;
}
}  // namespace for_vector

// bad braces: a vector's temporary
namespace vector_temporary {
task<bool> run() {
    const int n = co_await sum_vector(std::vector<int>{1, 2, 3});
    co_return n == 6;
}
}  // namespace vector_temporary

// bad braces: objects with a destructor
namespace of_things {
task<bool> run() {
    const int n = co_await sum_things({tracked(1), tracked(2)});
    co_return n == 3;
}
}  // namespace of_things

// bad construct: awaited numbers make a vector
namespace of_awaited {
task<bool> run() {
    std::vector<int> v{co_await number(1), co_await number(2)};
    co_return v[0] + v[1] == 3;
}
}  // namespace of_awaited

// bad construct: awaited numbers make a vector, with `=`
namespace of_awaited_assigned {
task<bool> run() {
    std::vector<int> v = {co_await number(1), co_await number(2)};
    co_return v[0] + v[1] == 3;
}
}  // namespace of_awaited_assigned

// bad construct: one awaited object
namespace of_one_thing {
task<bool> run() {
    std::vector<tracked> v{co_await thing(3)};
    co_return v[0].value() == 3;
}
}  // namespace of_one_thing

// bad construct: an awaited number for a function
namespace for_function {
task<bool> run() {
    const int n = std::max({co_await number(1), 2, 3});
    co_return n == 3;
}
}  // namespace for_function

// bad braces: beside an await
namespace beside {
int add(std::vector<int> v, int n) { return v[0] + v[1] + n; }
task<bool> run() {
    const int n = add({1, 2}, co_await number(3));
    co_return n == 6;
}
}  // namespace beside

// clean: what a loop runs over
namespace range_of_loop {
task<bool> run() {
    int n = 0;
    for (int i : {co_await number(1), co_await number(2)}) n += i;
    co_return n == 3;
}
}  // namespace range_of_loop

// bad construct: a range that is a list of awaited objects
namespace range_of_objects {
task<bool> run() {
    int n = 0;
    for (const tracked& t : {co_await thing(1), co_await thing(2)}) n += t.value();
    co_return n == 3;
}
}  // namespace range_of_objects

// bad construct: the value of a map's entry
namespace inserted {
task<bool> run() {
    std::map<int, std::vector<int>> m;
    m[1] = {co_await number(1), co_await number(2)};
    co_return m[1].size() == 2;
}
}  // namespace inserted

// workaround braces: the vector has a name
namespace named_vector {
task<bool> run() {
    std::vector<int> v{1, 2, 3};
    const int n = co_await sum_vector(std::move(v));
    co_return n == 6;
}
}  // namespace named_vector

// workaround braces: the list has a name
namespace named_list {
task<bool> run() {
    const std::initializer_list<int> list = {1, 2, 3};
    const int n = co_await sum(list);
    co_return n == 6;
}
}  // namespace named_list

// workaround construct: what is awaited is pushed
namespace pushed {
task<bool> run() {
    std::vector<int> v;
    v.push_back(co_await number(1));
    v.push_back(co_await number(2));
    co_return v[0] + v[1] == 3;
}
}  // namespace pushed

// workaround construct: what is awaited has names
namespace named_values {
task<bool> run() {
    const int a = co_await number(1);
    const int b = co_await number(2);
    std::vector<int> v{a, b};
    co_return v[0] + v[1] == 3;
}
}  // namespace named_values

// clean: parentheses
namespace parentheses {
task<bool> run() {
    std::vector<int> v(co_await number(2), co_await number(3));
    co_return v.size() == 2 && v[1] == 3;
}
}  // namespace parentheses
