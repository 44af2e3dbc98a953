// false_alarms [ROUNDS [SEED]]: a million rounds, drawn from a seed, of pipelines and coroutines of every kind
// that are started, slow, held up, changed and stopped, while two threads look for deadlocks without a
// pause, and one as any watchdog does. Fails with the report and the round if one of them sees any.
#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using weir::channel;
using weir::task;
using namespace std::chrono_literals;

std::atomic<std::uint64_t> round_now = 0;
int kind_now = 0;

[[noreturn]] void alarm(const weir::deadlock_report& r) {
    std::cout << "FALSE ALARM in round " << round_now << ", of kind " << kind_now << ":\n" << r << std::endl;
    std::_Exit(EXIT_FAILURE);
}

weir::watchdog_options without_thread() {
    weir::watchdog_options o;
    o.period = weir::duration(0);
    o.on_deadlock = alarm;
    o.on_stall = [](const weir::stall_report&) {};
    return o;
}

void spin_for(weir::duration d) {
    const auto end = std::chrono::steady_clock::now() + d;
    while (std::chrono::steady_clock::now() < end) {
    }
}

// A thread that feeds a channel at its own pace. It has used one, so it need not say so.
class feeder {
  public:
    feeder() : thread_([this] { work(); }) { jobs_.blocking_put(nullptr); }
    ~feeder() {
        jobs_.close();
        thread_.join();
    }
    void feed(channel<int>& to) {
        fed_ = false;
        jobs_.blocking_put(&to);
    }
    // It has let go of the channel.
    void wait() const {
        while (!fed_) std::this_thread::yield();
    }

  private:
    void work() {
        while (auto job = jobs_.blocking_get()) {
            channel<int>* const to = *job;
            if (to == nullptr) continue;
            for (int i = 0; i < 3; ++i) {
                spin_for(20us);
                to->blocking_put(int(i));
            }
            to->close();
            fed_ = true;
        }
    }
    channel<channel<int>*> jobs_{4};
    std::atomic<bool> fed_ = true;
    std::thread thread_;
};

// Wakes its coroutine from a thread of which nothing is known.
class driver {
  public:
    explicit driver(weir::executor& home) noexcept : executor_(&home) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        auto* const promise = new weir::external_wait;
        std::thread([promise, h, home = executor_] {
            spin_for(30us);
            home->post(h);
            delete promise;
        }).detach();
    }
    void await_resume() const noexcept {}

  private:
    weir::executor* executor_;
};

task<> give(channel<int>& out, int items) {
    for (int i = 0; i < items; ++i) {
        const bool taken = co_await out.put(int(i));
        if (!taken) break;
    }
    out.close();
}
task<> take(channel<int>& in) {
    while (auto item = co_await in.get()) static_cast<void>(*item);
}
task<> pass_on(channel<int>& in, channel<int>& out) {
    while (auto item = co_await in.get()) {
        const bool taken = co_await out.put(std::move(*item));
        if (!taken) break;
    }
    out.close();
}
task<> wait_for_driver(weir::executor& home, channel<int>& out) {
    driver outside(home);
    co_await outside;
    out.close();
}
task<int> nap(int i) {
    co_await weir::sleep_for(std::chrono::microseconds(i % 4 * 10));
    co_return i;
}

class rounds {
  public:
    explicit rounds(std::uint64_t seed) : random_(seed) {}

    weir::thread_pool pool{3};
    weir::blocking_pool io{2};

  private:
    int draw(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    std::size_t capacity() { return 1 + static_cast<std::size_t>(draw(3)); }
    weir::stage_options options(const char* name) {
        weir::stage_options o;
        o.name = name;
        o.concurrency = 1 + static_cast<std::size_t>(draw(3));
        o.capacity = capacity();
        o.output_order = draw(2) == 0 ? weir::output_order::input : weir::output_order::completion;
        return o;
    }
    auto source() { return weir::source(std::views::iota(0, draw(20))); }
    auto plain() {
        return weir::pipe([](int i) { return i + 1; }, options("plain"));
    }
    auto blocks() {
        weir::stage_options o = options("blocks");
        o.executor = &io;
        return weir::pipe(
            [](int i) {
                if (i % 4 == 0) std::this_thread::sleep_for(10us);
                return i;
            },
            o);
    }
    auto tee_and_route() {
        return weir::tee(plain()) |
               weir::route([](int i) { return i % 2; }, weir::branch("even", plain()), weir::branch("odd"));
    }
    auto joined() { return weir::zip(source() | plain(), source()); }
    auto sum() {
        return weir::pipe([](const std::tuple<int, int>& t) { return std::get<0>(t) + std::get<1>(t); });
    }
    auto in_turn() {
        return weir::merge({.order = weir::merge_order::round_robin, .until_first_end = draw(2) == 0},
                           source(), source() | plain());
    }

    // As consumers do.
    template <class Run>
    void consume(Run run) {
        const int way = draw(8);
        const int most = way == 0 ? draw(4) : 1000;  // leaves early
        if (way == 1) run.pause();
        if (way == 1) spin_for(10us);
        if (way == 1) run.resume();
        for (int i = 0; i < most; ++i) {
            if (way == 2) {
                auto got = run.get(std::chrono::microseconds(draw(30)));
                if (got.status() == weir::channel_status::closed) break;
                continue;
            }
            auto got = run.get();
            if (!got) break;
            if (way == 3) spin_for(20us);  // slow
            if (way == 4 && i == 0) {
                for (const std::string& name : run.stages()) {
                    if (name == "plain") return run.stop();
                    if (name == "nap") run.set_concurrency(name, 1 + static_cast<std::size_t>(draw(4)));
                }
            }
        }
        if (way == 5) static_cast<void>(run.stats());
    }

    void between_coroutines() {
        channel<int> a(capacity()), b(capacity());
        weir::sync_wait(pool, weir::when_all(give(a, draw(30)), pass_on(a, b), take(b)));
    }
    void fed_by_a_thread() {
        channel<int> a(capacity()), b(capacity());
        feeder_.feed(a);
        weir::sync_wait(pool, weir::when_all(pass_on(a, b), take(b)));
        feeder_.wait();
    }
    void woken_from_outside() {
        channel<int> a(1);
        weir::sync_wait(pool, weir::when_all(wait_for_driver(pool, a), take(a)));
    }
    void one_in_another() {
        auto inner = (source() | plain() | weir::sink(capacity())).start(pool);
        consume(
            (weir::source(std::move(inner)) | weir::pipe(nap, options("nap")) | weir::sink()).start(pool));
    }
    void fails() {
        const int bad = draw(10);
        const auto f = [bad](int i) {
            if (i == bad) throw std::runtime_error("as was asked for");
            return i;
        };
        try {
            consume((source() | weir::tee(plain()) | weir::pipe(f, options("fails")) | plain() | weir::sink())
                        .start(pool));
        } catch (const weir::pipeline_failure&) {
        }
    }

  public:
    void one() {
        kind_now = draw(12);
        switch (kind_now) {
            case 0:
                return between_coroutines();
            case 1:
                return fed_by_a_thread();
            case 2:
                return draw(10) == 0 ? woken_from_outside() : between_coroutines();
            case 3:
                return consume((source() | tee_and_route() | weir::sink(capacity())).start(pool));
            case 4:
                return consume((joined() | sum() | weir::sink(capacity())).start(pool));
            case 5:
                return consume((in_turn() | weir::sink(capacity())).start(pool));
            case 6:
                return consume((source() | weir::pipe(nap, options("nap")) | weir::sink()).start(pool));
            case 7:
                return one_in_another();
            case 8:
                return consume((source() | blocks() | weir::sink(capacity())).start(pool));
            case 9:
                return fails();
            case 10:
                return consume((source() | plain() | weir::sink(capacity())).start<weir::unmeasured>(pool));
            default:
                return consume((source() | plain() | plain() | weir::sink(capacity())).start(pool));
        }
    }

  private:
    std::mt19937_64 random_;
    feeder feeder_;
};

}  // namespace

int main(int argc, char** argv) try {
    const std::uint64_t count = argc > 1 ? std::stoull(argv[1]) : 1'000'000;
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    rounds all(seed);
    std::atomic<bool> over = false;
    std::atomic<std::uint64_t> looks = 0;
    weir::watchdog_options with_thread = without_thread();
    with_thread.period = 1ms;
    const weir::watchdog dog({all.pool, all.io}, with_thread);
    const auto look = [&] {
        weir::watchdog closely({all.pool, all.io}, without_thread());
        while (!over) {
            closely.inspect();
            ++looks;
            std::this_thread::yield();
        }
    };
    std::thread one(look);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
        round_now = i;
        all.one();
        if ((i + 1) % 100'000 == 0) std::cout << i + 1 << " rounds, " << looks << " looks" << std::endl;
    }
    over = true;
    one.join();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    std::cout << count << " rounds, " << looks << " looks, " << passed.count() << " s: no alarm\n";
    return EXIT_SUCCESS;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
