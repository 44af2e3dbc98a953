// Shows a coroutine type of your own that awaits objects of weir: a channel, a sleep, a task.
// It needs one member of its promise, `weir_executor`, which says where the coroutine resumes.
#include <weir/channel/channel.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <iostream>

using namespace std::chrono_literals;

// A script of an engine: it begins at once, nobody waits for it, and it frees itself. Its first argument is the loop
// that runs it; the constructor of the promise gets the arguments of the coroutine.
struct script {
    struct promise_type {
        explicit promise_type(weir::executor& loop, auto&...) noexcept : loop_(&loop) {}
        script get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }

        // Where the script resumes after a wait. Without this member: on a thread of the library.
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
    const auto health = left.blocking_get();  // the loop belongs to this thread, which runs it meanwhile
    return health && *health == 40 ? 0 : 1;
}
