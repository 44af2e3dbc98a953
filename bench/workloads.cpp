// How well predictions of real runs come true: each of ten workloads runs and is recorded; a change is predicted; the workload
// runs again with this change. Beside it the bound that mean times give: the least of slots / mean time.
#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/session.hpp"
#include "common/workload.hpp"

#include <weir/insight/predict.hpp>
#include <weir/weir.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

using bench::compute;
using bench::computing;
using bench::constant;
using bench::log_normal;
using bench::sleep_for_item;
using bench::sleeping;
using bench::time_of;
using bench::times;

// The settings of a run that a change concerns.
struct plan {
    std::size_t slots_a = 1;
    std::size_t slots_b = 1;
    std::size_t capacity = 2;
    weir::output_order order = weir::output_order::completion;  // of stage a
    std::size_t batch = 8;
    double time_b = 1;  // factors of times
    double time_consumer = 1;
};

struct workload {
    std::string name;
    std::string change;  // in words
    std::size_t items;
    plan before;
    plan after;
    std::function<weir::pipeline_stats(const plan&, std::size_t items, std::size_t recording)> run;
};

// Two stages; `consume(item)` is called by this thread.
template <class A, class B, class Consume>
weir::pipeline_stats run_two(const plan& p, std::size_t items, std::size_t recording, A a, B b,
                             Consume consume) {
    weir::thread_pool pool(2);
    auto run =
        (weir::source(std::views::iota(std::size_t{0}, items), {.capacity = p.capacity}) |
         weir::pipe(
             a, {.name = "a", .concurrency = p.slots_a, .output_order = p.order, .capacity = p.capacity}) |
         weir::pipe(b, {.name = "b", .concurrency = p.slots_b, .capacity = p.capacity}) |
         weir::sink(p.capacity))
            .start(pool, {.recording = recording});
    for (auto& each : run) consume(each);
    return run.stats();
}

// The same, with batches before the second stage.
template <class A, class B>
weir::pipeline_stats run_batches(const plan& p, std::size_t items, std::size_t recording, A a, B b) {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(std::size_t{0}, items), {.capacity = p.capacity}) |
                weir::pipe(a, {.name = "a", .concurrency = p.slots_a, .capacity = p.capacity}) |
                weir::aggregate(p.batch) |
                weir::pipe(b, {.name = "b", .concurrency = p.slots_b, .capacity = p.capacity}) |
                weir::sink(p.capacity))
                   .start(pool, {.recording = recording});
    for (auto& each : run) bench::keep(each);
    return run.stats();
}

void take(const auto& item) { bench::keep(item); }

// Texts of different lengths, as files of a corpus.
std::vector<std::string> texts() {
    std::mt19937_64 random(3);
    std::lognormal_distribution<double> length(9, 0.7);  // a median of 8 KB
    std::vector<std::string> all;
    for (int i = 0; i < 256; ++i) {
        std::string text(static_cast<std::size_t>(length(random)) + 1, ' ');
        for (char& each : text) each = random() % 6 == 0 ? ' ' : static_cast<char>('a' + random() % 26);
        all.push_back(std::move(text));
    }
    return all;
}
std::vector<std::uint32_t> tokens_of(const std::string& text) {
    std::vector<std::uint32_t> all;
    std::uint32_t hash = 2'166'136'261U;
    for (const char c : text) {
        if (c == ' ') {
            all.push_back(hash % 50'000);
            hash = 2'166'136'261U;
        } else {
            hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
        }
    }
    return all;
}

// The transform of blocks of 8 x 8, as in a decoder of JPEG, without shortcuts.
std::vector<float> decode(std::size_t blocks, std::uint64_t seed) {
    std::vector<float> pixels(64 * blocks);
    std::vector<float> wave(64);
    for (std::size_t i = 0; i < 64; ++i) {
        wave[i] = std::cos(static_cast<float>((2 * (i / 8) + 1) * (i % 8)) * 0.19635F);
    }
    for (std::size_t block = 0; block < blocks; ++block) {
        float rows[64];
        for (std::size_t i = 0; i < 64; ++i) {
            rows[i] = 0;
            for (std::size_t k = 0; k < 8; ++k) {
                seed = seed * 6'364'136'223'846'793'005U + 1;
                rows[i] += wave[8 * (i % 8) + k] * static_cast<float>(seed >> 56);
            }
        }
        for (std::size_t i = 0; i < 64; ++i) {
            float sum = 0;
            for (std::size_t k = 0; k < 8; ++k) sum += wave[8 * (i / 8) + k] * rows[8 * k + i % 8];
            pixels[64 * block + i] = sum;
        }
    }
    return pixels;
}

std::vector<workload> workloads() {
    std::vector<workload> all;
    const auto add = [&](std::string name, std::string change, std::size_t items, plan before,
                         std::function<void(plan&)> changed, auto run) {
        plan after = before;
        changed(after);
        all.push_back({std::move(name), std::move(change), items, before, after, std::move(run)});
    };
    const times noisy_a = log_normal(2'000, 1);
    const times noisy_b = log_normal(2'000, 2);
    add(
        "sleeps", "b: 2 slots instead of 1", 1'000, {}, [](plan& p) { p.slots_b = 2; },
        [](const plan& p, std::size_t n, std::size_t kept) {
            return run_two(p, n, kept, sleeping(constant(2'000)), sleeping(constant(3'000)),
                           [](auto& i) { take(i); });
        });
    add(
        "processor work", "b: 40 % less time", 15'000, {.capacity = 4}, [](plan& p) { p.time_b = 0.6; },
        [](const plan& p, std::size_t n, std::size_t kept) {
            return run_two(p, n, kept, computing(constant(60)), computing(constant(150), p.time_b),
                           [](auto& i) { take(i); });
        });
    add(
        "sleeps and processor work", "b: 4 slots instead of 2", 2'000, {.slots_b = 2},
        [](plan& p) { p.slots_b = 4; },
        [](const plan& p, std::size_t n, std::size_t kept) {
            const auto b = [](std::size_t i) -> weir::task<std::size_t> {
                co_await weir::sleep_for(2ms);
                compute(200us);
                co_return i;
            };
            return run_two(p, n, kept, sleeping(constant(700)), b, [](auto& i) { take(i); });
        });
    add(
        "log-normal, queues of 2", "a: 2 slots instead of 1", 1'500, {.capacity = 2},
        [](plan& p) { p.slots_a = 2; },
        [=](const plan& p, std::size_t n, std::size_t kept) {
            return run_two(p, n, kept, sleeping(noisy_a), sleeping(noisy_b), [](auto& i) { take(i); });
        });
    add(
        "log-normal, queues of 8", "all queues: room for 1 instead of 8", 1'500,
        {.slots_a = 3, .capacity = 8}, [](plan& p) { p.capacity = 1; },
        [=](const plan& p, std::size_t n, std::size_t kept) {
            return run_two(p, n, kept, sleeping(log_normal(5'000, 5)), sleeping(noisy_b),
                           [](auto& i) { take(i); });
        });
    add(
        "log-normal consumer, queues of 16", "the consumer: half the time", 1'000, {.capacity = 16},
        [](plan& p) { p.time_consumer = 0.5; },
        [=](const plan& p, std::size_t n, std::size_t kept) {
            const times consumer = log_normal(3'000, 6);
            return run_two(p, n, kept, sleeping(noisy_a), sleeping(constant(1'000)), [&](std::size_t i) {
                std::this_thread::sleep_for(time_of(consumer, i, p.time_consumer));
            });
        });
    add(
        "in order", "a: 8 slots instead of 4", 1'500, {.slots_a = 4, .order = weir::output_order::input},
        [](plan& p) { p.slots_a = 8; },
        [](const plan& p, std::size_t n, std::size_t kept) {
            return run_two(p, n, kept, sleeping(log_normal(6'000, 7)), sleeping(constant(1'000)),
                           [](auto& i) { take(i); });
        });
    add(
        "batches of 8", "b: 2 slots instead of 1", 3'000, {.slots_a = 2}, [](plan& p) { p.slots_b = 2; },
        [](const plan& p, std::size_t n, std::size_t kept) {
            const auto b = [](const std::vector<std::size_t>& batch) {
                return sleep_for_item(batch.size(), 8ms);
            };
            return run_batches(p, n, kept, sleeping(log_normal(1'500, 8)), b);
        });
    add(
        "like corpus: read, tokenise", "a: 4 slots instead of 2", 4'000, {.slots_a = 2, .capacity = 4},
        [](plan& p) { p.slots_a = 4; },
        [files = texts(), latency = log_normal(1'200, 9)](const plan& p, std::size_t n, std::size_t kept) {
            const auto read = [&](std::size_t i) -> weir::task<std::string> {
                co_await weir::sleep_for(time_of(latency, i));
                co_return files[i % files.size()];
            };
            const auto tokenise = [](const std::string& text) {
                std::size_t sum = 0;
                for (int pass = 0; pass < 8; ++pass) sum += tokens_of(text).size();
                return sum;
            };
            return run_two(p, n, kept, read, tokenise, [](auto& i) { take(i); });
        });
    add(
        "like images: read, decode", "b: 2 slots instead of 1", 3'000, {.slots_a = 4, .capacity = 4},
        [](plan& p) { p.slots_b = 2; },
        [latency = log_normal(1'500, 10), sizes = log_normal(500, 11)](const plan& p, std::size_t n,
                                                                       std::size_t kept) {
            const auto decoded = [&](std::size_t i) {
                return decode(static_cast<std::size_t>(time_of(sizes, i) / 1us) + 100, i).back();
            };
            return run_two(p, n, kept, sleeping(latency), decoded, [](auto& i) { take(i); });
        });
    return all;
}

// Applies the difference of two plans to the settings of a recorded run.
weir::pipeline_settings changed(weir::pipeline_settings s, const plan& before, const plan& after) {
    s.stage("a").concurrency = after.slots_a;
    s.stage("b").concurrency = after.slots_b;
    s.stage("a").output_order = after.order;
    if (after.capacity != before.capacity) {
        for (weir::stage_settings& each : s.stages) each.capacity = after.capacity;
    }
    s.stage("b").time_factor = after.time_b / before.time_b;
    s.stages.back().time_factor = after.time_consumer / before.time_consumer;
    return s;
}

// The greatest rate at the consumer that mean times allow: no stage gives more than its slots do, and all functions
// together get no more than the threads.
double bound(const weir::pipeline_settings& s, const weir::recording& r) {
    double longest = 0;
    double computed = 0;
    for (std::size_t i = 0; i < s.stages.size(); ++i) {
        if (r.stages[i].tasks.empty()) continue;
        double all = 0;
        double run = 0;
        for (const weir::recorded_task& each : r.stages[i].tasks) {
            all += static_cast<double>((each.run + each.await).count());
            run += static_cast<double>(each.run.count());
        }
        const double visits = static_cast<double>(r.stages[i].num_tasks) / static_cast<double>(r.num_items);
        const double scale = visits * s.stages[i].time_factor / static_cast<double>(r.stages[i].tasks.size());
        longest = std::max(longest, scale * all / static_cast<double>(s.stages[i].concurrency));
        if (s.stages[i].role != weir::stage_role::consumer) computed += scale * run;
    }
    if (s.pools[0] != 0) longest = std::max(longest, computed / static_cast<double>(s.pools[0]));
    return 1e9 / longest;
}

// The mean rate of several simulations of the run, with the times in different orders.
double predicted_rate(const weir::pipeline_settings& s, const weir::recording& r, std::uint64_t items) {
    constexpr std::uint64_t simulations = 16;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= simulations; ++seed) {
        sum += weir::predict(s, r, {.items = items, .skipped = 1, .seed = seed}).rate;
    }
    return sum / static_cast<double>(simulations);
}

struct outcome {
    bool was_refused = false;
    double error = 0;        // of the prediction, as a share
    double bound_error = 0;  // of the bound by mean times
};

outcome measure(bench::session& session, const workload& w) {
    constexpr std::size_t kept = 2'000;
    const std::size_t items = session.quick() ? w.items / 10 : w.items;
    const weir::recording recorded = weir::record_of(w.run(w.before, items, kept));
    const weir::pipeline_stats rerun = w.run(w.after, items, 0);
    bench::check(rerun.first_item.has_value(), "items come out");
    const double real = rerun.first_item->rate();

    weir::pipeline_settings today = recorded.settings;
    today.num_items = items;  // the end of the run, where stages wait for the last items, is simulated, too
    const double explained = predicted_rate(today, recorded, items);
    const weir::pipeline_settings next = changed(today, w.before, w.after);
    weir::recording used = recorded;
    used.settings = today;
    used = weir::calibrated(std::move(used), {.items = items, .skipped = 1, .resamples = 10});
    const double predicted = predicted_rate(next, used, items);
    const weir::prediction interval =
        weir::predict(next, used, {.items = items, .skipped = 1, .resamples = 40});
    const double by_means = bound(next, recorded);

    outcome o;
    o.was_refused = std::abs(explained / recorded.rate - 1) > 0.05;
    o.error = predicted / real - 1;
    o.bound_error = by_means / real - 1;
    if (!session.json()) {
        std::printf(
            "%-34s %-38s %8.1f %8.1f %+6.1f %%  %8.1f %8.1f %+6.1f %%  [%.1f, %.1f]  %8.1f %+6.1f %%%s\n",
            w.name.c_str(), w.change.c_str(), recorded.rate, explained, 100 * (explained / recorded.rate - 1),
            real, predicted, 100 * o.error, interval.low, interval.high, by_means, 100 * o.bound_error,
            o.was_refused ? "  refused" : "");
        std::fflush(stdout);
    }
    session.document().add_value(w.name + ": predicted", predicted, "items/s");
    session.document().add_value(w.name + ": measured", real, "items/s");
    session.document().add_value(w.name + ": bound by mean times", by_means, "items/s");
    return o;
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("workloads", argc, argv);
    if (!session.json()) {
        std::printf("%-34s %-38s %8s %8s %8s  %8s %8s %8s  %s\n", "workload", "change", "recorded",
                    "explained", "error", "rerun", "predicted", "error",
                    "interval, bound by mean times, error");
    }
    std::vector<outcome> all;
    for (const workload& each : workloads()) {
        if (!session.wants(each.name)) continue;
        all.push_back(measure(session, each));
    }
    if (all.empty()) return 0;
    const auto count = [&all](auto is_counted) {
        return static_cast<double>(std::ranges::count_if(all, is_counted));
    };
    // The median, in per cent.
    const auto middle = [&all](double outcome::* of) {
        std::ranges::sort(all, {}, [of](const outcome& o) { return std::abs(o.*of); });
        return 100 * std::abs(all[all.size() / 2].*of);
    };
    const double right = count([](const outcome& o) { return !o.was_refused && std::abs(o.error) <= 0.05; });
    const double refused = count([](const outcome& o) { return o.was_refused; });
    session.value("all", static_cast<double>(all.size()), "workloads");
    session.value("predicted within 5 % of the rerun", right, "workloads");
    session.value("refused", refused, "workloads");
    session.value("within 5 % by mean times",
                  count([](const outcome& o) { return std::abs(o.bound_error) <= 0.05; }), "workloads");
    session.result("right_share", (right + refused) / static_cast<double>(all.size()));
    session.result("refused_share", refused / static_cast<double>(all.size()));
    session.result("prediction_error_percent", middle(&outcome::error));
    session.result("mean_times_error_percent", middle(&outcome::bound_error));
}
