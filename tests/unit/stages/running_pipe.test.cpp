// Random pipelines of all kinds of stages, plain and in epochs, in every order, that are paused and whose
// slots come and go while they run: the accounts balance, and the results are those of a loop.
#include <weir/stages/running_pipe.hpp>

#include "support/catch.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::duration;
using weir::pipeline_stats;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

using value = std::uint64_t;
using values = std::vector<value>;

// A number, or a batch of them, so that all stages are of one type.
class cell {
  public:
    explicit cell(value n) : number(n) {}
    explicit cell(std::vector<cell>&& all) : parts(std::move(all)) {}
    auto begin() { return parts.begin(); }
    auto end() { return parts.end(); }
    value number = 0;
    std::vector<cell> parts;
};

// What is wrong, a line each.
class complaints {
  public:
    void check(bool right, const std::string& of, const char* what) {
        if (!right && count_++ < 4) text_ += of + ": " + what + "\n";
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    int count_ = 0;
};

// What each slot was given to do, by value: any schedule gives the same.
struct workload {
    value salt = 0;
    int longest = 1;
    std::shared_ptr<duration> sum = std::make_shared<duration>(0);
    duration of(value n) const {
        std::mt19937_64 dice(salt ^ n);
        const duration d = dice() % 3 == 0 ? 0ns : duration(dice() % static_cast<value>(longest));
        *sum += d;
        return d;
    }
};

values one_by_one(const values& in, const std::function<values(value)>& f) {
    values out;
    for (const value n : in) {
        for (const value m : f(n)) out.push_back(m);
    }
    return out;
}

class random_graph {
  public:
    explicit random_graph(std::uint64_t seed) : seed_(seed), random_(seed), time_(seed) {
        in_epochs_ = pick(0, 1) == 0;
        changes_ = pick(0, 2) == 0;
        epochs_.resize(in_epochs_ ? static_cast<std::size_t>(pick(0, 5)) : 1);
        for (values& each : epochs_) {
            const int n = pick(0, 3) == 0 ? pick(0, 1) : pick(0, in_epochs_ ? 15 : 50);
            for (int i = 0; i < n; ++i) each.push_back(random_() % 100'000);
        }
        expected_ = epochs_;
        const int stages = pick(1, 6);
        for (int i = 0; i < stages; ++i) add_stage("s" + std::to_string(i));
        sink_ = static_cast<std::size_t>(pick(1, 4));
    }

    // Runs it; gives what is wrong.
    std::string run() {
        weir::run_options o;
        o.max_failures = weir::unlimited;
        o.lap = duration(pick(20, 300));
        o.on_lap = [this, lap = o.lap](const pipeline_stats& s) {
            wrong_.check(s.elapsed == lap, "lap", "as long as it should be");
            check(s, false);
        };
        const auto from =
            weir::source_options{.name = "src", .capacity = static_cast<std::size_t>(pick(1, 3))};
        if (in_epochs_) {
            const auto make = [this](std::uint64_t e) { return of_epoch(e); };
            const auto pipeline =
                weir::source(weir::epochs(make, epochs_.size()), from) | stages_ | weir::sink(sink_);
            auto run = pipeline.start(time_, std::move(o));
            consume_epochs(run);
            finish(run);
        } else {
            const auto pipeline =
                weir::source([this] { return of_epoch(0); }, from) | stages_ | weir::sink(sink_);
            auto run = pipeline.start(time_, std::move(o));
            consume(run);
            finish(run);
        }
        return wrong_.text();
    }

  private:
    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }
    weir::async_generator<cell> of_epoch(std::uint64_t e) {
        const workload pulling{seed_, 30, pulling_};
        for (const value n : epochs_.at(e)) {
            co_await weir::sleep_for(pulling.of(n));
            co_yield cell(n);
        }
    }

    // Works on each item; `f` is what becomes of it, for the loop too.
    void add_stage(const std::string& name) {
        weir::stage_options o;
        o.name = name;
        o.concurrency = static_cast<std::size_t>(pick(0, 1) == 0 ? 1 : pick(1, 5));
        o.capacity = static_cast<std::size_t>(pick(1, 4));
        if (pick(0, 1) == 0) o.output_order = weir::output_order::input;
        if (pick(0, 5) == 0) o.time_limit = 1h;
        workload w{random_(), pick(1, 60)};
        std::function<values(value)> f = [](value n) { return values{n * 3 + 1}; };
        const value odd = random_() % 3 + 2;
        bool waits = true;
        switch (pick(0, 9)) {
            case 0:
                waits = false;
                stages_.add(weir::pipe([](cell c) { return cell(c.number * 3 + 1); }, o));
                break;
            case 1:
                stages_.add(weir::pipe(
                    [w](cell c, const weir::invocation&) -> task<cell> {
                        co_await weir::sleep_for(w.of(c.number));
                        co_return cell(c.number * 3 + 1);
                    },
                    o));
                break;
            case 2:
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [w, odd](cell c) -> task<std::optional<cell>> {
                        co_await weir::sleep_for(w.of(c.number));
                        if (c.number % odd == 0) co_return std::nullopt;
                        co_return c;
                    },
                    o));
                break;
            case 3:
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [w, odd](cell c) -> task<cell> {
                        co_await weir::sleep_for(w.of(c.number));
                        if (c.number % odd == 0) throw std::runtime_error("tolerated");
                        co_return c;
                    },
                    o));
                break;
            case 4:
                waits = false;
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [odd](cell c) {
                        return c.number % odd == 0 ? std::nullopt : std::optional<cell>(std::move(c));
                    },
                    o));
                break;
            case 5:
                waits = false;
                o.output_order = weir::output_order::completion;
                o.time_limit = 0ns;
                f = [](value n) { return n % 4 == 0 ? values{} : values{n, n + 7}; };
                stages_.add(weir::pipe(
                    [](cell c) -> weir::generator<cell> {
                        if (c.number % 4 != 0) {
                            co_yield cell(c.number);
                            co_yield cell(c.number + 7);
                        }
                    },
                    o));
                break;
            case 6:
                o.output_order = weir::output_order::completion;
                o.time_limit = 0ns;
                f = [](value n) { return values{n, n + 7}; };
                stages_.add(weir::pipe(
                    [w](cell c) -> weir::async_generator<cell> {
                        co_yield cell(c.number);
                        co_await weir::sleep_for(w.of(c.number));
                        co_yield cell(c.number + 7);
                    },
                    o));
                break;
            case 7:
                stages_.add(weir::pipe(weir::per_slot([w] {
                                           return [w, own = value{3}](cell c) mutable -> task<cell> {
                                               const value three = own;
                                               co_await weir::sleep_for(w.of(c.number));
                                               co_return cell(c.number * three + 1);
                                           };
                                       }),
                                       o));
                break;
            default:
                add_batches(name, o);
                return;
        }
        for (values& each : expected_) each = one_by_one(each, f);
        book(o, waits ? std::optional(w.sum) : std::nullopt);
    }

    // Into batches, by number, weight or time, work on those, and apart again.
    void add_batches(const std::string& name, weir::stage_options o) {
        weir::aggregate_options a{.name = name + " batch",
                                  .max_delay = duration(pick(0, 1) * pick(1, 40)),
                                  .capacity = o.capacity};
        const auto size = static_cast<std::size_t>(pick(1, 5));
        if (pick(0, 1) == 0) {
            stages_.add(weir::aggregate<cell>(size, a));
        } else {
            stages_.add(
                weir::aggregate_by_weight<cell>(size * 3, [](const cell& c) { return c.number % 5; }, a));
        }
        works_.emplace_back();
        workload w{random_(), 50};
        // By the weight of a whole batch, as it depends on the schedule what is in it.
        stages_.add(weir::pipe(
            [w](cell c) -> task<cell> {
                co_await weir::sleep_for(w.of(c.parts.front().number));
                co_return c;
            },
            o));
        book(o, w.sum);
        stages_.add(weir::disaggregate({.name = name + " apart", .capacity = o.capacity}));
        works_.emplace_back();
    }

    void book(const weir::stage_options& o, std::optional<std::shared_ptr<duration>> sum) {
        works_.push_back(std::move(sum));
        resizable_.push_back(o.name);
        const bool one_slot = o.concurrency == 1 && !changes_;
        ordered_ = ordered_ && (one_slot || o.output_order == weir::output_order::input);
    }

    template <class Run>
    void change(Run& run) {
        if (!changes_) return;
        if (!resizable_.empty() && pick(0, 2) == 0) {
            const auto& name =
                resizable_[static_cast<std::size_t>(pick(0, static_cast<int>(resizable_.size()) - 1))];
            run.set_concurrency(name, static_cast<std::size_t>(pick(1, 5)));
            run.set_capacity(name, static_cast<std::size_t>(pick(1, 5)));
        }
        if (pick(0, 5) == 0) {
            run.pause();
            time_.run_until(time_.now() + duration(pick(0, 100)));
            run.resume();
        }
        check(run.stats(), true);
    }

    template <class Run>
    void consume(Run& run) {
        values all;
        while (auto c = run.get()) {
            all.push_back(c->number);
            change(run);
        }
        compare(std::move(all), 0);
    }
    template <class Run>
    void consume_epochs(Run& run) {
        std::size_t epochs = 0;
        for (auto& epoch : run.epochs()) {
            values all;
            for (cell& c : epoch) {
                all.push_back(c.number);
                change(run);
            }
            wrong_.check(epoch.number() == epochs, "epoch", "the number after that of the one before");
            compare(std::move(all), epochs++);
        }
        wrong_.check(epochs == expected_.size(), "epochs", "as many as there were");
    }
    void compare(values all, std::size_t epoch) {
        values expected = expected_.at(epoch);
        if (!ordered_) {
            std::sort(all.begin(), all.end());
            std::sort(expected.begin(), expected.end());
        }
        wrong_.check(all == expected, "epoch " + std::to_string(epoch),
                     ordered_ ? "the items of a loop, in its order" : "the items of a loop");
    }

    template <class Run>
    void finish(Run& run) {
        const pipeline_stats s = run.stats();
        check(s, true);
        wrong_.check(s.stages.at(0).busy == *pulling_, "src", "busy is what it was given to do");
        for (std::size_t i = 0; i < works_.size(); ++i) {
            const auto& stage = s.stages.at(i + 1);
            wrong_.check(stage.busy == (works_[i] ? **works_[i] : 0ns), stage.name,
                         "busy is what it was given to do");
        }
        for (const auto& q : s.channels)
            wrong_.check(q.size == 0 && q.num_put == q.num_get, q.name, "is empty");
        const auto end = time_.now();
        time_.run();
        wrong_.check(time_.now() == end, "time", "nothing is left behind");
    }

    void check(const pipeline_stats& s, bool total) {
        for (std::size_t i = 0; i < s.stages.size(); ++i) {
            const auto& stage = s.stages[i];
            const auto t = stage.times();
            wrong_.check(stage.elapsed == s.elapsed, stage.name, "its time is the run's");
            wrong_.check(t.total() == std::ssize(stage.per_slot) * s.elapsed, stage.name,
                         "the slots' states sum to slots x elapsed");
            for (const auto& slot : stage.per_slot) {
                wrong_.check(slot.total() == s.elapsed, stage.name, "each slot's states sum to elapsed");
                wrong_.check(slot.off >= 0ns && slot.wait_get >= 0ns && slot.await >= 0ns &&
                                 slot.wait_put >= 0ns && slot.wait_turn >= 0ns,
                             stage.name, "no state is negative");
            }
            wrong_.check(stage.busy == t.busy(), stage.name, "busy is run + await");
            wrong_.check(t.runnable == 0ns && t.run == 0ns, stage.name, "no work takes time but by waiting");
            wrong_.check(t.wait_put == s.channels.at(i).put_wait, stage.name,
                         "the slots' wait_put is their queue's put_wait");
            wrong_.check(t.wait_get == (i == 0 ? 0ns : s.channels.at(i - 1).get_wait), stage.name,
                         "the slots' wait_get is the get_wait of the queue before");
            wrong_.check(stage.num_failures <= stage.num_tasks, stage.name, "failures are tasks");
        }
        for (const auto& q : s.channels) {
            wrong_.check(q.elapsed == s.elapsed, q.name, "its time is the run's");
            wrong_.check(0ns <= q.empty && q.empty <= q.elapsed, q.name, "0 <= empty <= elapsed");
            wrong_.check(q.put_blocked <= q.put_wait && q.get_blocked <= q.get_wait, q.name,
                         "blocked <= wait");
            wrong_.check(q.put_blocked + q.empty <= q.elapsed, q.name, "no put waits while it is empty");
            wrong_.check(q.get_blocked <= q.empty, q.name, "no get waits unless it is empty");
            if (!total) continue;
            wrong_.check(q.num_put - q.num_get == q.size, q.name, "what went in and not out is inside");
            wrong_.check(q.put_waits.count() == q.num_put, q.name, "each put is in its histogram");
            wrong_.check(q.get_waits.count() == q.num_get, q.name, "each get is in its histogram");
            wrong_.check(q.put_waits.sum() <= q.put_wait && q.get_waits.sum() <= q.get_wait, q.name,
                         "the histograms hold finished waits");
        }
    }

    std::uint64_t seed_;
    std::mt19937_64 random_;
    virtual_time time_;
    bool in_epochs_ = false;
    bool changes_ = false;
    bool ordered_ = true;
    std::size_t sink_ = 1;
    std::vector<values> epochs_;
    std::vector<values> expected_;
    std::shared_ptr<duration> pulling_ = std::make_shared<duration>(0);
    std::vector<std::optional<std::shared_ptr<duration>>> works_;
    std::vector<std::string> resizable_;
    weir::stage_list<cell> stages_;
    complaints wrong_;
};

}  // namespace

TEST_CASE("five hundred random pipelines give what a loop gives, and their accounts balance") {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const std::string wrong = random_graph(seed).run();
        if (!wrong.empty()) FAIL_CHECK("seed " << seed << "\n" << wrong);
    }
}

TEST_CASE("the time in which a slot's function is made is no invocation's") {
    slow_world world;
    const auto make = [&world] {
        world.pass(5s);
        return [&world](int n) {
            world.pass(1s);
            return n;
        };
    };
    auto run = (weir::source({1, 2}, {.capacity = 2}) | weir::pipe(weir::per_slot(make), {.name = "made"}) |
                weir::sink())
                   .start(world);
    while (run.get()) continue;
    const weir::stage_stats stage = run.stats().stages.at(1);
    CHECK(stage.num_tasks == 2);
    CHECK(stage.task_time == 2s);
    CHECK(stage.task_times.max() == 1s);
}

TEST_CASE("a function whose rate of failures is too high at its hundredth call isn't called again") {
    virtual_time time;
    int calls = 0;
    const auto drops = [&calls](int n) -> std::optional<int> {
        ++calls;
        if (n < 20) throw std::runtime_error("not yet");
        return std::nullopt;
    };
    auto run = (weir::source(std::views::iota(0, 200), {.capacity = 200}) |
                weir::pipe(drops, {.name = "drops", .max_failures = weir::rate(0.1)}) | weir::sink())
                   .start(time);
    CHECK_THROWS_AS(run.get(), weir::pipeline_failure);
    CHECK(calls == 100);
}
