// Shows a coroutine type of your own that awaits what is the library's: a channel, a sleep, a task. All that it
// takes is one member of its promise, which says where the coroutine belongs.
#include <weir/channel/channel.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <iostream>

using namespace std::chrono_literals;

// An engine's script: it begins at once, nobody waits for it, and it frees itself. Its first argument is the loop
// that it runs on, as the promise's constructor sees the arguments of the coroutine.
struct script {
    struct promise_type {
        explicit promise_type(weir::executor& loop, auto&...) noexcept : loop_(&loop) {}
        script get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }

        // Where the script goes on when what it awaited is there. Without it: on a thread of the library's.
        weir::executor& weir_executor() const noexcept { return *loop_; }

      private:
        weir::executor* loop_;
    };
};

weir::task<int> damage(int hit) {
    co_await weir::sleep_for(1ms);  // the arrow flies
    co_return 10 * hit;
}

script archer(weir::executor&, weir::channel<int>& hits) {
    for (int i = 1; i <= 3; ++i) {
        const bool taken = co_await hits.put(co_await damage(i));
        if (!taken) break;
    }
    hits.close();
}

script knight(weir::executor&, weir::channel<int>& hits, weir::channel<int>& left) {
    int health = 100;
    while (const auto hit = co_await hits.get()) {
        health -= *hit;
        std::cout << "the knight is hit by " << *hit << ", " << health << " left\n";
    }
    const bool taken = co_await left.put(health);
    static_cast<void>(taken);
}

int main() {
    weir::run_loop loop;  // or your engine's: see 13_game_loop_executor.cpp
    weir::channel<int> hits(2, loop);
    weir::channel<int> left(1, loop);
    knight(loop, hits, left);
    archer(loop, hits);
    const auto health = left.blocking_get();  // this thread runs the loop meanwhile, as it is the loop's own
    return health && *health == 40 ? 0 : 1;
}
