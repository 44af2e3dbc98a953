// Shows that an engine of your own runs coroutines, too: an executor in under twenty lines.
// A game runs what is ready once a frame, and its clock counts frames, not the time on the wall.
#include <weir/executor.hpp>
#include <weir/pipeline.hpp>
#include <weir/sleep.hpp>
#include <weir/task.hpp>

#include <chrono>
#include <coroutine>
#include <deque>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

class game_loop final : public weir::executor {
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
    int frame_ = 0;

  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    weir::time_point now() const noexcept override { return weir::time_point(frame_ * 16ms); }
    void next_frame() {
        ++frame_;
        while (weir::timer* due = timers_.pop_due(now())) post(due->waiter());
        for (auto turn = std::exchange(ready_, {}); auto h : turn) resume(h);
    }
};

weir::task<std::string> load(std::string asset) {
    co_await weir::sleep_for(48ms);  // three frames
    co_return asset + " is loaded";
}

int main() {
    const std::vector<std::string> assets = {"terrain", "trees", "music", "sounds"};
    auto pipeline = weir::source(assets) | weir::pipe(load, {.concurrency = 2}) | weir::sink(2);

    game_loop loop;
    auto run = pipeline.start(loop);
    int loaded = 0;
    for (int frame = 1; frame <= 20; ++frame) {
        loop.next_frame();
        while (const auto asset = run.get(0ms)) {  // a look: a game doesn't wait for its loader
            std::cout << "frame " << frame << ": " << *asset << '\n';
            ++loaded;
        }
    }
    return loaded == 4 ? 0 : 1;
}
