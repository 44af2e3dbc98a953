// SPDX-License-Identifier: BSL-1.0
// What is wrong on purpose: the judge has to see each kind of failure, with every compiler.
#include <new>

#include "canary.hpp"

// control: destroyed twice
namespace destroyed_twice {
task<bool> run() {
    alignas(tracked) char memory[sizeof(tracked)];
    tracked* t = new (memory) tracked(3);
    co_await turn();
    t->~tracked();
    t->~tracked();
    co_return true;
}
}  // namespace destroyed_twice

// control: copied bit by bit, the copy destroyed
namespace copied_by_bits {
task<bool> run() {
    alignas(tracked) char memory[sizeof(tracked)];
    alignas(tracked) char other[sizeof(tracked)];
    new (memory) tracked(3);
    co_await turn();
    for (size_t i = 0; i < sizeof memory; ++i) other[i] = memory[i];
    std::launder(reinterpret_cast<tracked*>(other))->~tracked();
    co_return true;
}
}  // namespace copied_by_bits

// control: never destroyed
namespace never_destroyed {
task<bool> run() {
    alignas(tracked) static char memory[sizeof(tracked)];
    new (memory) tracked(3);
    co_await turn();
    co_return true;
}
}  // namespace never_destroyed

// control: a frame that is never destroyed
namespace frame_left {
task<int> child() { co_return 3; }
task<bool> run() {
    alignas(task<int>) static char memory[sizeof(task<int>)];
    new (memory) task<int>(child());
    co_return true;
}
}  // namespace frame_left

// control: nobody resumes it
namespace never_resumed {
task<bool> run() {
    co_await std::suspend_always();
    co_return true;
}
}  // namespace never_resumed

// control: it never ends
namespace never_ends {
task<bool> run() {
    volatile bool forever = true;
    while (forever) co_await turn();
    co_return true;
}
}  // namespace never_ends

// control: the wrong value
namespace wrong_value {
task<bool> run() {
    const int n = co_await number(3);
    co_return n == 4;
}
}  // namespace wrong_value

// control: the program dies
namespace dies {
task<bool> run() {
    co_await turn();
    abort();
    co_return true;
}
}  // namespace dies

// control: the program does not compile
namespace refused {
task<bool> run() {
    const int n = co_await thing(3);
    co_return n == 3;
}
}  // namespace refused
