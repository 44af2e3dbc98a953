// Shows that an engine of your own runs coroutines, too. To join an event loop that exists takes `post`, timers, its
// clock, and one turn of it for who waits on its thread, `drive`; here a game's, which counts frames.
#include <weir/executor/executor.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <deque>
#include <iostream>
#include <string>
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
    // Whoever waits on the loop's own thread, as the end of a run does, runs the loop meanwhile. A loop that
    // other threads wait for, too, returns false to those, and has to lock what `post` touches.
    bool drive(flag&, weir::time_point limit) override {
        if (now() < limit) next_frame();
        return true;
    }
    void next_frame() {
        ++frame_;
        while (weir::timer* due = timers_.pop_due(now())) post(due->waiter());
        for (auto n = ready_.size(); n > 0 && !ready_.empty(); --n) {
            const auto h = ready_.front();
            ready_.pop_front();
            resume(h);
        }
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
    int loaded = 0;
    {
        auto run = pipeline.start(loop);
        for (int frame = 1; frame <= 5; ++frame) {
            loop.next_frame();
            while (const auto asset = run.get(0ms)) {  // a look: a game doesn't wait for its loader
                std::cout << "frame " << frame << ": " << *asset << '\n';
                ++loaded;
            }
        }
        std::cout << "the player leaves: the run ends within the frames that its loads still take\n";
    }

    auto again = pipeline.start(loop);
    for (const auto& asset : again) {  // where it does wait, the frames go on
        std::cout << asset << '\n';
        ++loaded;
    }
    return loaded == 6 ? 0 : 1;
}
