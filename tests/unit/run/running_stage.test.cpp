// That the accounts are right: what tests/promises.md promises as identities holds as equalities of integers, in
// every lap, for random pipelines; and the figures say what was put in.
#include <weir/run/running_stage.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/run_record.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using weir::channel_stats;
using weir::duration;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

// Collects what is wrong, a line each, as Catch's own assertions are too slow for so many.
class complaints {
  public:
    explicit complaints(std::string where) : where_(std::move(where)) {}
    void check(bool right, const std::string& of, const char* what) {
        if (!right && count_++ < 5) text_ += where_ + ": " + of + ": " + what + "\n";
    }
    const std::string& text() const { return text_; }

  private:
    std::string where_;
    std::string text_;
    int count_ = 0;
};

// What holds for each object by itself, whenever and by whomever it is looked at.
void check_each(const pipeline_stats& s, complaints& wrong) {
    for (const stage_stats& stage : s.stages) {
        const auto c = static_cast<std::int64_t>(stage.concurrency);
        wrong.check(stage.per_slot.size() == stage.concurrency, stage.name, "as many slots as concurrency");
        wrong.check(stage.times().total() == c * stage.elapsed, stage.name,
                    "the slots' states sum to concurrency x elapsed");
        for (const weir::slot_times& t : stage.per_slot) {
            wrong.check(t.total() == stage.elapsed, stage.name, "each slot's states sum to elapsed");
            wrong.check(t.off >= 0ns && t.wait_get >= 0ns && t.runnable >= 0ns && t.run >= 0ns &&
                            t.await >= 0ns && t.wait_put >= 0ns,
                        stage.name, "no state is negative");
        }
        wrong.check(stage.busy == stage.times().busy(), stage.name, "busy is run + await");
        wrong.check(stage.num_failures <= stage.num_tasks, stage.name, "failures are tasks");
    }
    for (const channel_stats& q : s.channels) {
        wrong.check(q.elapsed >= 0ns, q.name, "0 <= elapsed");
        wrong.check(0ns <= q.empty && q.empty <= q.elapsed, q.name, "0 <= empty <= elapsed");
        wrong.check(0ns <= q.put_blocked && q.put_blocked <= q.put_wait, q.name,
                    "0 <= put_blocked <= put_wait");
        wrong.check(0ns <= q.get_blocked && q.get_blocked <= q.get_wait, q.name,
                    "0 <= get_blocked <= get_wait");
        wrong.check(q.put_blocked <= q.elapsed && q.get_blocked <= q.elapsed, q.name, "blocked <= elapsed");
        wrong.check(q.put_blocked + q.empty <= q.elapsed, q.name, "nobody waits to put while it is empty");
        wrong.check(q.get_blocked <= q.empty, q.name, "nobody waits to get unless it is empty");
        wrong.check(q.readiness() >= 0 && q.readiness() <= 1, q.name, "readiness is a share");
    }
}

// Between objects, where all of them are seen at one instant: on virtual time.
void check_together(const pipeline_stats& s, complaints& wrong) {
    for (std::size_t i = 0; i < s.stages.size(); ++i) {
        const stage_stats& stage = s.stages[i];
        const channel_stats& after = s.channels[i];
        wrong.check(stage.elapsed == s.elapsed, stage.name, "a stage's time is the run's");
        wrong.check(after.elapsed == s.elapsed, stage.name, "a queue's time is the run's");
        wrong.check(stage.times().wait_put == after.put_wait, stage.name,
                    "the slots' wait_put is their queue's put_wait");
        wrong.check(stage.times().runnable == 0ns, stage.name, "virtual time has threads for all");
        wrong.check(stage.times().run == 0ns, stage.name, "no work takes time but by waiting");
        if (i == 0) {
            wrong.check(stage.times().wait_get == 0ns, stage.name, "a source gets from nobody");
        } else {
            wrong.check(stage.times().wait_get == s.channels[i - 1].get_wait, stage.name,
                        "the slots' wait_get is the get_wait of the queue before");
        }
        const auto c = static_cast<std::int64_t>(stage.concurrency);
        wrong.check(after.put_wait <= c * after.put_blocked, stage.name, "at most c wait to put");
    }
}

// Of a snapshot from the beginning on, not of a lap.
void check_total(const pipeline_stats& s, complaints& wrong) {
    for (const channel_stats& q : s.channels) {
        wrong.check(q.num_put == q.num_get + q.num_discarded + q.size, q.name,
                    "what went in came out, was discarded, or is inside");
        wrong.check(q.size <= q.capacity, q.name, "no more inside than there is room for");
        wrong.check(q.put_waits.count() == q.num_put, q.name, "each put is in its histogram");
        wrong.check(q.get_waits.count() == q.num_get, q.name, "each get is in its histogram");
        wrong.check(q.put_waits.sum() <= q.put_wait && q.get_waits.sum() <= q.get_wait, q.name,
                    "the histograms hold finished waits");
    }
    for (const stage_stats& stage : s.stages) {
        wrong.check(stage.task_times.count() == stage.num_tasks - stage.num_failures, stage.name,
                    "each success is in the histogram");
        wrong.check(stage.task_time + stage.failure_time <= stage.busy, stage.name,
                    "what has ended is a part of all work");
    }
}

// An item of which an aggregate makes one, and which a disaggregate takes apart; the part of one that
// has none is itself.
class packet {
  public:
    packet() = default;
    explicit packet(std::vector<packet>&& parts) : parts_(std::move(parts)) {}
    packet* begin() { return parts_.empty() ? this : parts_.data(); }
    packet* end() { return parts_.empty() ? this + 1 : parts_.data() + parts_.size(); }

  private:
    std::vector<packet> parts_;
};

// Gives times from a list, in turn, and books them. Copies share the books.
class clockwork {
  public:
    explicit clockwork(std::vector<duration> times) : times_(std::move(times)) {}
    duration next() {
        const duration d = times_[(*calls_)++ % times_.size()];
        *sum_ += d;
        return d;
    }
    std::size_t calls() const { return *calls_; }
    duration sum() const { return *sum_; }

  private:
    std::vector<duration> times_;
    std::shared_ptr<std::size_t> calls_ = std::make_shared<std::size_t>(0);
    std::shared_ptr<duration> sum_ = std::make_shared<duration>(0);
};

// A random pipeline, drawn from a number; its clockworks tell what its stages were given to do.
class random_pipeline {
  public:
    // \param symmetric  only stages whose slots are alike, so that it makes no difference which slot
    //                   is served first, and batches that are all of a size.
    random_pipeline(std::uint64_t number, bool symmetric) : random_(number), symmetric_(symmetric) {
        items_ = pick(0, 60);
        clockwork pulling = times();
        works_.push_back(pulling);
        const int stages = pick(1, 5);
        for (int i = 0; i < stages; ++i) add_stage("s" + std::to_string(i));
        sink_ = static_cast<std::size_t>(pick(1, 4));
        foreground_ = times().next();
        lap_ = duration(pick(10, 400));
    }

    // Runs it once from its beginning, and looks at its end, and at each lap if asked to.
    template <class Policy = weir::measured>
    pipeline_stats measure(std::uint64_t seed, complaints& wrong, bool each_lap) {
        virtual_time time(seed);
        pipeline_stats end;
        std::optional<weir::run<packet, Policy>> run;
        const auto on_lap = [&](const pipeline_stats& lap) {
            laps_.push_back(lap);
            wrong.check(lap.elapsed == lap_, "lap", "is as long as it should be");
            check_each(lap, wrong);
            check_together(lap, wrong);
            check_total(run->stats(), wrong);
        };
        run.emplace(
            start<Policy>(time,
                          {.max_failures = weir::unlimited, .lap = each_lap ? lap_ : 0ns, .on_lap = on_lap}));
        weir::sync_wait(time, consume(*run));
        end = run->stats();
        check_each(end, wrong);
        check_together(end, wrong);
        check_total(end, wrong);
        for (std::size_t i = 0; i < works_.size(); ++i) {
            wrong.check(end.stages.at(i).busy == works_[i].sum(), end.stages.at(i).name,
                        "busy is what the function was given to do");
        }
        return end;
    }

    const std::vector<pipeline_stats>& laps() const { return laps_; }

  private:
    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }

    clockwork times() {
        std::vector<duration> list;
        const int n = pick(1, 4);
        for (int i = 0; i < n; ++i) list.emplace_back(pick(0, 3) == 0 ? 0 : pick(1, 99));
        return clockwork(std::move(list));
    }

    template <class Policy>
    weir::run<packet, Policy> start(weir::executor& ex, weir::run_options options) {
        const auto pull = [work = works_.front(), left = items_]() mutable -> task<std::optional<packet>> {
            co_await weir::sleep_for(work.next());
            if (left-- == 0) co_return std::nullopt;
            co_return packet();
        };
        const auto pipeline = weir::source(pull, {.capacity = sink_}) | stages_ | weir::sink(sink_);
        return pipeline.template start<Policy>(ex, std::move(options));
    }

    template <class Run>
    task<> consume(Run& run) const {
        while (const auto p = co_await run.next()) co_await weir::sleep_for(foreground_);
    }

    void add_stage(const std::string& name) {
        weir::stage_options o{.name = name};
        o.concurrency = static_cast<std::size_t>(pick(1, 5));
        o.capacity = static_cast<std::size_t>(pick(1, 4));
        clockwork work = times();
        const std::size_t skip = pick(0, 1) == 0 ? 1'000'000 : static_cast<std::size_t>(pick(1, 4));
        switch (pick(0, 6)) {
            case 0: {
                stages_.add(weir::aggregate<packet>(
                    static_cast<std::size_t>(pick(1, 4)),
                    {.name = name, .drop_last = symmetric_ || pick(0, 1) == 0, .capacity = o.capacity}));
                works_.push_back(clockwork({0ns}));
                return;
            }
            case 1: {
                stages_.add(weir::disaggregate({.name = name, .capacity = o.capacity}));
                works_.push_back(clockwork({0ns}));
                return;
            }
            case 2: {
                stages_.add(weir::pipe(
                    [work, skip](packet p) mutable -> task<std::optional<packet>> {
                        const bool keep = work.calls() % 5 != skip;
                        co_await weir::sleep_for(work.next());
                        if (!keep) co_return std::nullopt;
                        co_return p;
                    },
                    o));
                break;
            }
            case 3: {
                if (symmetric_) o.concurrency = 1;
                stages_.add(weir::pipe(
                    [work](packet p) mutable -> weir::async_generator<packet> {
                        const std::size_t values = work.calls() % 4;
                        co_await weir::sleep_for(work.next());
                        for (std::size_t i = 0; i < values; ++i) {
                            co_yield p;
                            co_await weir::sleep_for(work.next());
                        }
                    },
                    o));
                break;
            }
            case 4: {
                stages_.add(weir::pipe(
                    [work, skip](packet p) mutable -> task<packet> {
                        const bool fail = work.calls() % 5 == skip;
                        const duration whole = work.next();
                        co_await weir::sleep_for(whole / 2);
                        if (whole / 2 != whole) co_await weir::sleep_for(whole - whole / 2);
                        if (fail) throw std::runtime_error("tolerated");
                        co_return p;
                    },
                    o));
                break;
            }
            case 5: {
                if (symmetric_) o.concurrency = 1;
                stages_.add(weir::pipe(
                    [](packet p) -> weir::generator<packet> {
                        co_yield p;
                        co_yield p;
                    },
                    o));
                works_.push_back(clockwork({0ns}));
                return;
            }
            default: {
                stages_.add(weir::pipe([](packet p) { return p; }, o));
                works_.push_back(clockwork({0ns}));
                return;
            }
        }
        works_.push_back(work);
    }

    std::mt19937_64 random_;
    bool symmetric_;
    int items_ = 0;
    std::vector<pipeline_stats> laps_;
    std::size_t sink_ = 1;
    duration foreground_{};
    duration lap_{};
    std::vector<clockwork> works_;
    weir::stage_list<packet> stages_;
};

// The figures in which two runs have to agree, whichever of a stage's slots did what.
void check_alike(const pipeline_stats& a, const pipeline_stats& b, complaints& wrong) {
    wrong.check(a.elapsed == b.elapsed, "run", "takes the same time");
    wrong.check(a.channels == b.channels, "queues", "have the same figures");
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        const stage_stats& s = a.stages[i];
        const stage_stats& t = b.stages[i];
        wrong.check(s.times() == t.times(), s.name, "has the same times");
        wrong.check(s.num_tasks == t.num_tasks && s.num_failures == t.num_failures, s.name,
                    "has the same counts");
        wrong.check(s.task_times == t.task_times && s.task_time == t.task_time, s.name,
                    "has the same task times");
    }
}

// Of a lap, a maximum is known by its bucket, or not at all.
pipeline_stats without_quantiles(pipeline_stats s, bool is_lap) {
    const auto strip = [is_lap](weir::histogram& h) {
        h = weir::histogram::without_quantiles(h.count(), h.sum(), is_lap ? 0ns : h.max());
    };
    for (stage_stats& stage : s.stages) strip(stage.task_times);
    for (channel_stats& q : s.channels) {
        strip(q.put_waits);
        strip(q.get_waits);
    }
    return s;
}

bool knows_quantiles(const pipeline_stats& s) {
    return std::ranges::any_of(s.stages,
                               [](const stage_stats& stage) {
                                   return !stage.task_times.empty() && stage.task_times.has_quantiles();
                               }) ||
           std::ranges::any_of(s.channels, [](const channel_stats& q) {
               return (!q.put_waits.empty() && q.put_waits.has_quantiles()) ||
                      (!q.get_waits.empty() && q.get_waits.has_quantiles());
           });
}

}  // namespace

TEST_CASE("the accounts of 200 random pipelines balance in every lap, to the nanosecond") {
    std::size_t laps = 0;
    std::uint64_t delivered = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
        random_pipeline pipeline(number, false);
        complaints wrong("pipeline " + std::to_string(number));
        delivered += pipeline.measure(number % 7, wrong, true).channels.back().num_get;
        laps += pipeline.laps().size();
        if (!wrong.text().empty()) FAIL_CHECK(wrong.text());
    }
    CHECK(laps > 2000);
    CHECK(delivered > 4000);
}

TEST_CASE("each queue adds up in each lap and at the end, whatever ends a run, and discards are counted") {
    enum class ends : std::uint8_t { drained, stopped, asked, failed };
    for (const ends how : {ends::drained, ends::stopped, ends::asked, ends::failed}) {
        for (int after = 1; after < 24; ++after) {
            CAPTURE(how, after);
            complaints wrong("run");
            std::vector<std::uint64_t> inside(3, 0);
            pipeline_stats laps;
            const auto on_lap = [&](const pipeline_stats& lap) {
                for (std::size_t i = 0; i < lap.channels.size(); ++i) {
                    const channel_stats& q = lap.channels[i];
                    wrong.check(inside[i] + q.num_put == q.num_get + q.num_discarded + q.size, q.name,
                                "what came out in a lap, or is left, was inside before or was put");
                    inside[i] = q.size;
                }
                laps = laps.channels.empty() ? lap : weir::joined(laps, lap);
            };
            const auto on_end = [&](const pipeline_stats& rest, const pipeline_stats&) { on_lap(rest); };
            const auto work = [how, after](int n) -> task<int> {
                co_await weir::sleep_for(3ns);
                if (how == ends::failed && n == after) throw std::runtime_error("no");
                co_return n;
            };
            virtual_time time(static_cast<std::uint64_t>(after));
            auto run = (weir::source(std::views::iota(0, 40), {.capacity = 3}) |
                        weir::pipe(work, {.name = "w", .concurrency = 3, .capacity = 3}) | weir::sink(4))
                           .start(time, {.lap = 5ns, .on_lap = on_lap, .on_end = on_end});
            try {
                for (int n = 0; (how != ends::stopped && how != ends::asked) || n < after; ++n) {
                    if (!run.get()) break;
                }
            } catch (const weir::pipeline_failure&) {
                CHECK(how == ends::failed);
            }
            if (how == ends::asked) run.request_stop();
            run.stop();
            const pipeline_stats end = run.stats();
            check_total(end, wrong);
            std::uint64_t discarded = 0;
            for (std::size_t i = 0; i < end.channels.size(); ++i) {
                const channel_stats& q = end.channels[i];
                discarded += q.num_discarded;
                wrong.check(q.size == 0, q.name, "nothing is left");
                wrong.check(q.num_put == laps.channels.at(i).num_put &&
                                q.num_discarded == laps.channels.at(i).num_discarded,
                            q.name, "the laps sum to the whole");
            }
            CHECK((discarded == 0) == (how == ends::drained));
            CHECK(wrong.text() == "");
        }
    }
}

TEST_CASE("figures don't depend on the order of coroutines that are ready at the same time") {
    for (std::uint64_t number = 1000; number < 1040; ++number) {
        complaints wrong("pipeline " + std::to_string(number));
        const pipeline_stats in_order = random_pipeline(number, true).measure(0, wrong, false);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            check_alike(in_order, random_pipeline(number, true).measure(seed, wrong, false), wrong);
        }
        if (!wrong.text().empty()) FAIL_CHECK(wrong.text());
    }
}

TEST_CASE("without histograms every figure but the quantiles is the same, in every lap") {
    for (std::uint64_t number = 2000; number < 2060; ++number) {
        complaints wrong("pipeline " + std::to_string(number));
        random_pipeline with(number, false);
        random_pipeline without(number, false);
        const std::uint64_t seed = number % 7;
        const pipeline_stats all = with.measure(seed, wrong, true);
        const pipeline_stats sums = without.measure<weir::summed>(seed, wrong, true);
        wrong.check(sums == without_quantiles(all, false), "run", "has the same figures");
        wrong.check(!knows_quantiles(sums), "run", "knows no quantile");
        REQUIRE(with.laps().size() == without.laps().size());
        for (std::size_t i = 0; i < with.laps().size(); ++i) {
            const pipeline_stats& lap = without.laps()[i];
            wrong.check(without_quantiles(lap, true) == without_quantiles(with.laps()[i], true), "lap",
                        "has the same figures");
            wrong.check(!knows_quantiles(lap), "lap", "knows no quantile");
        }
        if (!wrong.text().empty()) FAIL_CHECK(wrong.text());
    }
}

TEST_CASE("a stall over many laps is seen in each of them: readiness 0, and a whole lap of waiting") {
    static constexpr duration lap = 1ms;
    virtual_time time;
    std::vector<pipeline_stats> laps;
    // The fifth item takes ten laps; all others half a lap.
    const auto stalls = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 4 ? 10 * lap : lap / 2);
        co_return n;
    };
    auto run =
        (weir::source(std::views::iota(0, 8)) | weir::pipe(stalls, {.name = "stalls"}) |
         weir::pipe([](int n) { return n; }, {.name = "fast", .concurrency = 2}) | weir::sink())
            .start(time, {.lap = lap, .on_lap = [&laps](const pipeline_stats& s) { laps.push_back(s); }});
    CHECK(items::take_all(run).size() == 8);
    REQUIRE(laps.size() == 13);
    // From 2 ms to 12 ms.
    for (std::size_t i = 2; i < 12; ++i) {
        CAPTURE(i);
        const channel_stats& before = laps[i].channels.at(0);
        const channel_stats& after = laps[i].channels.at(1);
        const channel_stats& sink = laps[i].channels.at(3);
        const stage_stats& stage = laps[i].stages.at(1);
        const stage_stats& fast = laps[i].stages.at(2);
        CHECK(stage.busy == lap);
        CHECK(stage.times().await == lap);
        CHECK(after.readiness() == 0);
        CHECK(after.empty == lap);
        CHECK(after.get_blocked == lap);
        CHECK(after.get_wait == 2 * lap);  // two slots wait
        CHECK(fast.times().wait_get == 2 * lap);
        CHECK(fast.times().busy() == 0ns);
        CHECK(sink.get_wait == lap);  // the consumer
        CHECK(before.readiness() == 1);
        CHECK(before.put_wait == lap);
        // What was open is counted at its end, not before.
        if (i > 2) {
            CHECK(after.num_get == 0);
            CHECK(after.get_waits.count() == 0);
        }
    }
}

TEST_CASE("a consumer that is away for many laps holds every stage back in each of them") {
    static constexpr duration lap = 1ms;
    virtual_time time;
    std::vector<pipeline_stats> laps;
    auto run =
        (weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }, {.concurrency = 3}) |
         weir::sink(1))
            .start(time, {.lap = lap, .on_lap = [&laps](const pipeline_stats& s) { laps.push_back(s); }});
    time.run_until(weir::time_point(5 * lap + 1ns));
    REQUIRE(laps.size() == 5);
    for (const pipeline_stats& s : laps) {
        CHECK(s.stages.at(0).times().wait_put == lap);
        CHECK(s.stages.at(1).times().wait_put == 3 * lap);
        CHECK(s.channels.at(1).put_wait == 3 * lap);
        CHECK(s.channels.at(1).put_blocked == lap);
        CHECK(s.stages.at(2).times().wait_put == lap);
        for (const channel_stats& q : s.channels) CHECK(q.readiness() == 1);
    }
}

TEST_CASE("slots that have nothing to do any more are off") {
    virtual_time time;
    const auto once = [](int n) -> task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(once, {.name = "p", .concurrency = 4}) |
                weir::pipe([](int n) -> task<int> {
                    co_await weir::sleep_for(10ms);
                    co_return n;
                }) |
                weir::sink())
                   .start(time);
    CHECK(items::take_all(run).size() == 2);
    const auto stats = run.stats();
    CHECK(stats.elapsed == 21ms);
    CHECK(stats.stages.at(0).times().off == 21ms);
    CHECK(stats.stages.at(1).times().off == 2 * 20ms + 2 * 21ms);
    CHECK(stats.stages.at(1).times().await == 2ms);
}

TEST_CASE("the time of failed invocations is the stage's, but in no average, and has a sum of its own") {
    virtual_time time;
    const auto fails_late = [](int n) -> task<int> {
        co_await weir::sleep_for(n * 1ms);
        if (n % 2 == 1) throw std::runtime_error("odd");
        co_return n;
    };
    auto run = (weir::source({1, 2, 3, 4}) | weir::pipe(fails_late) | weir::sink())
                   .start(time, {.max_failures = weir::unlimited});
    CHECK(items::take_all(run).size() == 2);
    const stage_stats s = run.stats().stages.at(1);
    CHECK(s.busy == 10ms);
    CHECK(s.task_time == 6ms);
    CHECK(s.ave_time() == 3ms);
    CHECK(s.failure_time == 4ms);
    CHECK(s.ave_failure_time() == 2ms);
    CHECK(s.num_tasks == 4);
    CHECK(s.num_failures == 2);
    CHECK(s.task_times.count() == 2);
}

TEST_CASE("each object's accounts balance in a snapshot of any thread, while a pool is at work") {
    weir::thread_pool pool(2);
    const auto busy = [](int n) {
        for (int i = 0; i < n % 50; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        return n;
    };
    const auto waits = [](int n) -> task<int> {
        co_await weir::yield();
        if (n % 100 == 0) co_await weir::sleep_for(1us);
        co_return n;
    };
    complaints wrong_in_lap("lap");
    // Items come as long as somebody looks.
    std::atomic<int> looks{0};
    const auto numbers = [&looks, n = 0]() mutable -> std::optional<int> {
        if (looks >= 400) return std::nullopt;
        return n = (n + 1) % 1'000'000;
    };
    auto run = (weir::source(numbers) | weir::pipe(busy, {.name = "busy", .concurrency = 3}) |
                weir::aggregate(3) | weir::disaggregate() |
                weir::pipe(waits, {.name = "waits", .concurrency = 2, .capacity = 1}) | weir::sink())
                   .start(pool, {.lap = 200us, .on_lap = [&](const pipeline_stats& lap) {
                                     check_each(lap, wrong_in_lap);
                                 }});
    complaints wrong("snapshot");
    std::thread observer([&] {
        std::mt19937_64 random(1);
        pipeline_stats before = run.stats();
        while (looks < 400) {
            for (std::uint64_t i = random() % 64; i > 0; --i) std::this_thread::yield();
            const pipeline_stats now = run.stats();
            check_each(now, wrong);
            // The difference clips at 0, so it balances only if nothing has become less.
            check_each(now - before, wrong);
            for (const channel_stats& q : now.channels) {
                wrong.check(q.num_put == q.num_get + q.num_discarded + q.size, q.name,
                            "what went in came out, was discarded, or is inside");
            }
            before = now;
            ++looks;
        }
    });
    std::uint64_t taken = 0;
    while (run.get()) ++taken;
    observer.join();
    CHECK(run.stats().channels.back().num_get == taken);
    CHECK(wrong.text() == "");
    run.stop();  // no lap is looked at any more
    CHECK(wrong_in_lap.text() == "");
    complaints at_the_end("end");
    check_each(run.stats(), at_the_end);
    CHECK(at_the_end.text() == "");
}

namespace {

// A loop whose clock moves only by hand, and by its own posts: each wakes somebody, which takes 700 ns.
class costly_loop final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override {
        pass(duration(700));
        ready_.push_back(h);
    }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    weir::time_point now() const noexcept override { return now_; }
    bool drive(flag&, weir::time_point) override {
        if (!ready_.empty()) {
            const auto h = ready_.front();
            ready_.pop_front();
            resume(h);
        }
        return true;
    }
    void pass(duration d) noexcept { now_ += d; }

  private:
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
    weir::time_point now_;
};

// What a function measures by itself: it takes so long.
struct own_clock {
    costly_loop* loop;
    duration sum{};
    int operator()(int n, duration each) {
        const auto begin = loop->now();
        loop->pass(each);
        sum += loop->now() - begin;
        return n;
    }
};

class slow_hook final : public weir::hook {
  public:
    explicit slow_hook(costly_loop& loop) : loop_(loop) {}
    void before(const weir::invocation&) override { loop_.pass(duration(3'000)); }
    void after(const weir::invocation&, const std::exception_ptr&) override { loop_.pass(duration(4'000)); }
    void stage_ends(const std::string&) override { loop_.pass(duration(50'000)); }

  private:
    costly_loop& loop_;
};

// The stages "a" and "b" against their own clocks, with whatever ends the run.
void check_own_clocks(const pipeline_stats& s, const own_clock& a, const own_clock& b) {
    for (const stage_stats& stage : s.stages) {
        CAPTURE(stage.name);
        CHECK(stage.times().total() == stage.elapsed * static_cast<int>(stage.per_slot.size()));
        if (stage.name == "a") CHECK(stage.task_time == a.sum);
        if (stage.name == "a") CHECK(stage.times().run == a.sum);
        if (stage.name == "b") CHECK(stage.task_time == b.sum);
        if (stage.name == "b") CHECK(stage.times().run == b.sum);
    }
}

task<> consume(auto& run, int& sum) {
    while (const std::optional<int> n = co_await run.next()) sum += *n;
}

}  // namespace

TEST_CASE("to wake others is a stage's overhead: its time is that of its function by its own clock") {
    enum class end { for_each, thread, coroutine };
    const auto check = [](std::size_t capacity, std::size_t slots, weir::output_order order, end by) {
        costly_loop loop;
        own_clock a{&loop};
        own_clock b{&loop};
        weir::stage_options of_a{.name = "a", .concurrency = slots};
        of_a.capacity = capacity;
        of_a.output_order = order;
        const auto head =
            weir::source(std::views::iota(0, 50), {.capacity = capacity}) |
            weir::pipe([&](int n) { return a(n, duration(1'500)); }, of_a) |
            weir::pipe([&](int n) { return b(n, duration(40)); }, {.name = "b", .capacity = capacity});
        CAPTURE(capacity, slots, static_cast<int>(order), static_cast<int>(by));
        int sum = 0;
        if (by == end::for_each) {
            auto run = (head | weir::for_each([&](int n) { sum += n; })).start(loop);
            run.wait();
            check_own_clocks(run.stats(), a, b);
            CHECK(run.stats().stages[1].times().overhead > duration(0));
        } else {
            auto run = (head | weir::sink(capacity)).start(loop);
            if (by == end::thread) {
                for (const int n : run) sum += n;
            } else {
                weir::sync_wait(loop, consume(run, sum));
            }
            check_own_clocks(run.stats(), a, b);
        }
        CHECK(sum == 49 * 25);
    };
    for (const std::size_t capacity : {1U, 2U, 5U}) {
        for (const std::size_t slots : {1U, 2U}) {
            for (const auto order : {weir::output_order::completion, weir::output_order::input}) {
                for (const end by : {end::for_each, end::thread, end::coroutine}) {
                    check(capacity, slots, order, by);
                }
            }
        }
    }
}

TEST_CASE("hooks and on_failure are a stage's overhead, and no part of an invocation's time") {
    costly_loop loop;
    own_clock a{&loop};
    own_clock b{&loop};
    auto run = (weir::source(std::views::iota(0, 20)) |
                weir::pipe([&](int n) -> task<int> { co_return a(n, duration(1'500)); }, {.name = "a"}) |
                weir::pipe(
                    [&](int n) {
                        if (n % 2 != 0) throw std::runtime_error("odd");
                        return b(n, duration(40));
                    },
                    {.name = "b", .max_failures = 10}) |
                weir::for_each([](int) {}))
                   .start(loop, {.on_failure = [&](const weir::failure&) { loop.pass(duration(9'000)); },
                                 .hooks = {std::make_shared<slow_hook>(loop)}});
    run.wait();
    check_own_clocks(run.stats(), a, b);
    CHECK(run.stats().stages[1].times().overhead >= duration(20 * 7'000 + 50'000));
    CHECK(run.stats().stages[2].times().overhead >= duration(20 * 7'000 + 10 * 9'000 + 50'000));
}

TEST_CASE("many results of one item: the time of the function is without the wake-ups between them") {
    costly_loop loop;
    own_clock a{&loop};
    own_clock b{&loop};
    const auto twice = [&](int n) -> weir::generator<int> {
        co_yield a(n, duration(1'500));
        co_yield a(n, duration(300));
    };
    auto run =
        (weir::source(std::views::iota(0, 20)) | weir::pipe(twice, {.name = "a"}) |
         weir::pipe([&](int n) { return b(n, duration(40)); }, {.name = "b"}) | weir::for_each([](int) {
         })).start(loop);
    run.wait();
    check_own_clocks(run.stats(), a, b);
}

namespace {

// Runs to the end on virtual time, and keeps so many invocations.
template <class Policy = weir::measured, class Pipeline>
pipeline_stats recorded(const Pipeline& pipeline, std::size_t recording, weir::run_options options = {}) {
    virtual_time clock;
    options.recording = recording;
    options.max_failures = 1'000;
    auto run = pipeline.template start<Policy>(clock, options);
    run.drain();
    return run.stats();
}

task<int> sleep_by_number(int k) {
    co_await weir::sleep_for(std::chrono::milliseconds(k % 7));
    if (k % 10 == 9) throw std::runtime_error("nine");
    co_await weir::sleep_for(std::chrono::microseconds(k));
    co_return k;
}

std::vector<weir::task_sample> sample_of(const pipeline_stats& s, std::size_t stage) {
    REQUIRE(s.stages.at(stage).samples);
    return s.stages[stage].samples->tasks;
}

duration time_of(const weir::task_sample& t) { return t.run + t.await + t.runnable; }

}  // namespace

TEST_CASE("a run without a recording keeps no invocations") {
    const pipeline_stats s = recorded(weir::source(std::views::iota(0, 9)) | weir::sink(), 0);
    for (const stage_stats& each : s.stages) CHECK_FALSE(each.samples);
}

TEST_CASE("each invocation of a recorded run has its own times, results and failure") {
    const auto p =
        weir::source(std::views::iota(0, 100)) |
        weir::pipe(sleep_by_number, {.concurrency = 3, .output_order = weir::output_order::input}) |
        weir::sink();
    const pipeline_stats s = recorded(p, 1'000);
    std::vector<weir::task_sample> expected;
    for (int k = 0; k < 100; ++k) {
        const bool fails = k % 10 == 9;
        expected.push_back(
            {.await = k % 7 * 1ms + (fails ? 0us : k * 1us), .results = fails ? 0U : 1U, .failed = fails});
    }
    std::vector<weir::task_sample> kept = sample_of(s, 1);
    CHECK(std::ranges::is_sorted(kept, {}, &weir::task_sample::at));
    for (weir::task_sample& each : kept) each.at = 0ns;
    const auto by_time = [](const weir::task_sample& a, const weir::task_sample& b) {
        return std::pair(a.await, a.failed) < std::pair(b.await, b.failed);
    };
    std::ranges::sort(kept, by_time);
    std::ranges::sort(expected, by_time);
    CHECK(kept == expected);
    CHECK(sample_of(s, 0).size() == 100);
}

TEST_CASE("a recording changes no other figure of a run on virtual time") {
    const auto p =
        weir::source(std::views::iota(0, 300)) | weir::pipe(sleep_by_number, {.concurrency = 4}) |
        weir::filter([](int k) { return k % 3 != 0; }) |
        weir::flat_map([](int k) { return std::vector<int>(static_cast<std::size_t>(k % 3), k); }) |
        weir::aggregate(5) | weir::sink();
    const pipeline_stats without = recorded(p, 0);
    pipeline_stats with = recorded(p, 20);
    for (stage_stats& each : with.stages) each.samples.reset();
    with.consumer.reset();
    CHECK(with == without);
}

TEST_CASE("invocations are recorded with the number of their results, also of generators and behind hooks") {
    const auto repeat = [](int k) -> weir::generator<int> {
        for (int i = 0; i < k; ++i) co_yield i;
    };
    const auto repeat_later = [](int k) -> weir::async_generator<int> {
        for (int i = 0; i < k % 3; ++i) {
            co_await weir::sleep_for(2ms);
            co_yield i;
        }
    };
    const auto p = weir::source(std::views::iota(0, 4)) | weir::pipe(repeat) | weir::pipe(repeat_later) |
                   weir::filter([](int k) { return k == 1; }) | weir::sink(1);
    for (const bool hooks : {false, true}) {
        weir::run_options options;
        if (hooks) options.hooks.push_back(std::make_shared<weir::hook>());
        const pipeline_stats s = recorded(p, 100, options);
        std::vector<std::uint32_t> results;
        for (const weir::task_sample& each : sample_of(s, 1)) results.push_back(each.results);
        CHECK(results == std::vector<std::uint32_t>{0, 1, 2, 3});
        for (const weir::task_sample& each : sample_of(s, 2)) {
            CHECK(each.await == each.results * 2ms);
            CHECK(each.run == 0ns);
        }
        CHECK(sample_of(s, 2).size() == 6);
        std::size_t passed = 0;
        for (const weir::task_sample& each : sample_of(s, 3)) passed += each.results;
        CHECK(passed == s.num_items);
        CHECK(sample_of(s, 3).size() == s.stages[3].num_tasks);
    }
}

TEST_CASE("the sample of an aggregate is one of batches, with the number of items in each") {
    const auto items = std::views::iota(1, 30);
    const auto sizes = [](const pipeline_stats& s) {
        std::vector<std::uint32_t> all;
        for (const weir::task_sample& each : sample_of(s, 1)) all.push_back(each.taken);
        return all;
    };
    const auto weigh = [](int k) { return k; };
    CHECK(sizes(recorded(weir::source(items) | weir::aggregate(8) | weir::sink(), 100)) ==
          std::vector<std::uint32_t>{8, 8, 8, 5});
    // The last items of batches are 13, 19, 23, 26 and 29.
    CHECK(sizes(recorded(weir::source(items) | weir::aggregate_by_weight(100, weigh) | weir::sink(), 100)) ==
          std::vector<std::uint32_t>{13, 6, 4, 3, 3});
}

TEST_CASE("a recorded run with other policies: the sample is the same without histograms") {
    const auto p = weir::source(std::views::iota(0, 50)) | weir::pipe(sleep_by_number) | weir::sink();
    CHECK(sample_of(recorded<weir::summed>(p, 9), 1) == sample_of(recorded(p, 9), 1));
    CHECK_FALSE(recorded<weir::unmeasured>(p, 9).stages[1].samples);
}

TEST_CASE("the samples of two laps are those of the whole run, as long as all invocations are kept") {
    virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 60)) | weir::pipe(sleep_by_number, {.concurrency = 2}) |
                weir::sink())
                   .start(clock, {.max_failures = 100, .recording = 1'000});
    for (int i = 0; i < 20; ++i) static_cast<void>(run.get());
    const pipeline_stats first = run.stats();
    for (int i = 0; i < 10; ++i) static_cast<void>(run.get());
    const pipeline_stats second = run.stats();
    const pipeline_stats lap = second - first;
    CHECK(sample_of(lap, 1).size() >= 9);
    for (const weir::task_sample& each : sample_of(lap, 1)) CHECK(each.at <= lap.stages[1].elapsed);
    CHECK(lap.consumer->tasks.size() == 10);
    const pipeline_stats both = weir::joined(first, lap);
    CHECK(both.consumer == second.consumer);
    // Invocations that end at once are in any order.
    const auto sorted = [](std::vector<weir::task_sample> all) {
        std::ranges::sort(all, {}, [](const weir::task_sample& t) { return std::pair(t.at, t.await); });
        return all;
    };
    for (std::size_t i = 0; i < 2; ++i) CHECK(sorted(sample_of(both, i)) == sorted(sample_of(second, i)));
}

TEST_CASE("added slots are recorded, too, and a stage keeps no more than it is to") {
    virtual_time clock;
    auto run = (weir::source(std::views::iota(0, 5'000)) |
                weir::pipe(sleep_by_number, {.name = "work", .concurrency = 1}) | weir::sink())
                   .start(clock, {.max_failures = 5'000, .recording = 64});
    for (int i = 0; i < 100; ++i) static_cast<void>(run.get());
    run.set_concurrency("work", 9);
    run.drain();
    const pipeline_stats s = run.stats();
    const auto kept = sample_of(s, 1);
    CHECK(kept.size() <= 64);
    CHECK(kept.size() >= 16);
    std::size_t early = 0;
    for (const weir::task_sample& each : kept) early += each.at < s.elapsed / 10 ? 1U : 0U;
    CHECK(early < kept.size() / 2);
}

TEST_CASE("the number of invocations to keep is refused if it is negative") {
    virtual_time clock;
    const auto p = weir::source(std::views::iota(0, 5)) | weir::sink();
    CHECK_THROWS_WITH(p.start(clock, {.recording = static_cast<std::size_t>(-1)}),
                      "weir: the recording of a run was negative; 0 means none");
}

TEST_CASE(
    "on threads, short invocations of a sample are timed one by one, and are read while the run goes on") {
    weir::thread_pool pool(2);
    std::atomic<std::uint64_t> sum{0};
    const auto work = [&sum](int k) {
        for (int i = 0; i < 50; ++i) sum.fetch_add(1, std::memory_order_relaxed);
        return k;
    };
    auto run =
        (weir::source(std::views::iota(0, 20'000)) | weir::pipe(work, {.concurrency = 2}) | weir::sink(64))
            .start(pool, {.recording = 100});
    std::uint64_t read = 0;
    while (run.get()) {
        if (++read % 500 != 0) continue;
        const pipeline_stats s = run.stats();
        REQUIRE(s.stages[1].samples);
        CHECK(s.stages[1].samples->tasks.size() <= 100);
        CHECK(s.consumer->tasks.size() <= 100);
    }
    const pipeline_stats s = run.stats();
    const auto kept = sample_of(s, 1);
    CHECK(kept.size() >= 12);
    for (const weir::task_sample& each : kept) {
        CHECK(time_of(each) > 0ns);
        CHECK(each.await == 0ns);
        CHECK(each.results == 1);
    }
    CHECK(std::ranges::is_sorted(kept, {}, &weir::task_sample::at));
}

TEST_CASE("the threads of a stage are those of its pool at the snapshot, also if later stages go first") {
    for (const bool later_first : {false, true}) {
        weir::thread_pool pool(2);
        auto run = (weir::source(std::views::iota(0, 9)) | weir::sink())
                       .start(pool, {.later_stages_first = later_first});
        CHECK(run.stats().stages[0].setup->threads == 2);
        pool.set_workers(1);
        CHECK(run.stats().stages[0].setup->threads == 1);
    }
    weir::virtual_time time;
    auto run = (weir::source(std::views::iota(0, 9)) | weir::sink()).start(time);
    CHECK(run.stats().stages[0].setup->threads == 0);
}
