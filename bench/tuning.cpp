// How near a tuner comes to the best fixed settings, on real time. Each of five workloads runs with one slot and one place
// everywhere; the tuner changes it at the end of each of 20 laps. Then its rate is measured, and that of each fixed
// distribution of the same budget of slots, with room for 64 items.
#include "common/check.hpp"
#include "common/harness.hpp"
#include "common/session.hpp"
#include "common/workload.hpp"

#include <weir/insight/tune.hpp>
#include <weir/weir.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using bench::compute;
using bench::computing;
using bench::constant;
using bench::log_normal;
using bench::sleeping;
using bench::time_of;

namespace {

struct plan {
    std::size_t slots_a = 1;
    std::size_t slots_b = 1;
    std::size_t capacity = 1;
};

struct timing {
    int laps = 20;
    weir::duration lap = 1s;
    weir::duration trial = 1s;   // of each fixed distribution
    weir::duration window = 2s;  // of which three are measured at the end
};

struct workload {
    std::string name;
    std::size_t max_slots = 8;                                  // with the source's
    weir::output_order order = weir::output_order::completion;  // of stage a
};

// Gets items for this long. Returns the items per second.
template <class Run, class Consume>
double rate_of(Run& run, weir::duration time, Consume& consume) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t items = 0;
    auto now = begin;
    for (; now - begin < time; now = std::chrono::steady_clock::now()) {
        consume(*run.get());
        ++items;
    }
    return static_cast<double>(items) / std::chrono::duration<double>(now - begin).count();
}

template <class Run, class Consume>
double median_rate(Run& run, weir::duration window, Consume& consume) {
    std::array<double, 3> rates{};
    for (double& each : rates) each = rate_of(run, window, consume);
    std::ranges::sort(rates);
    return rates[1];
}

// Calls `use(run)` with a running pipeline of two stages.
template <class A, class B>
auto with_run(const workload& w, const plan& p, const A& a, const B& b, auto use) {
    weir::thread_pool pool(2);
    auto run =
        (weir::source(std::views::iota(std::size_t{0}), {.capacity = p.capacity}) |
         weir::pipe(
             a, {.name = "a", .concurrency = p.slots_a, .output_order = w.order, .capacity = p.capacity}) |
         weir::pipe(b, {.name = "b", .concurrency = p.slots_b, .capacity = p.capacity}) |
         weir::sink(p.capacity))
            .start(pool);
    return use(run);
}

// The rate of the tuned run divided by that of the best fixed settings.
template <class A, class B, class Consume>
double tuned_share(bench::session& session, const timing& t, const workload& w, const A& a, const B& b,
                   Consume consume) {
    const auto tuned = [&](auto& run) {
        weir::tuner tuner({.max_slots = w.max_slots});
        for (int lap = 0; lap < t.laps; ++lap) {
            rate_of(run, t.lap, consume);
            const weir::tuning_step& step = tuner.step(run);
            if (session.takes_long() && !session.json()) std::printf("    %s\n", step.sentence.c_str());
        }
        return median_rate(run, t.window, consume);
    };
    const double by_tuner = with_run(w, {}, a, b, tuned);

    plan best;
    double greatest = 0;
    for (std::size_t slots_a = 1; slots_a + 2 <= w.max_slots; ++slots_a) {
        const plan p{.slots_a = slots_a, .slots_b = w.max_slots - 1 - slots_a, .capacity = 64};
        const double rate = with_run(w, p, a, b, [&](auto& run) {
            rate_of(run, t.trial / 4, consume);  // until the queues are full
            return rate_of(run, t.trial, consume);
        });
        if (rate > greatest) {
            greatest = rate;
            best = p;
        }
    }
    const double fixed = with_run(w, best, a, b, [&](auto& run) {
        rate_of(run, t.trial, consume);
        return median_rate(run, t.window, consume);
    });
    const double alone = with_run(w, {}, a, b, [&](auto& run) { return median_rate(run, t.trial, consume); });
    bench::check(fixed > 0, "items come out");
    session.value(w.name + ": one slot and place everywhere", alone, "items/s");
    session.value(w.name + ": tuned", by_tuner, "items/s");
    session.value(w.name + ": best fixed, " + std::to_string(best.slots_a) + " and " +
                      std::to_string(best.slots_b) + " slots",
                  fixed, "items/s");
    session.value(w.name + ": tuned / best fixed", by_tuner / fixed, "");
    return by_tuner / fixed;
}

std::vector<double> shares(bench::session& session, const timing& t) {
    std::vector<double> all;
    const auto add = [&](const workload& w, const auto& a, const auto& b, auto consume) {
        if (session.wants(w.name)) all.push_back(tuned_share(session, t, w, a, b, consume));
    };
    const auto take = [](const auto& item) { bench::keep(item); };
    add({.name = "sleeps"}, sleeping(constant(2'000)), sleeping(constant(6'000)), take);
    add({.name = "log-normal sleeps"}, sleeping(log_normal(6'000, 1)), sleeping(log_normal(3'000, 2)), take);
    add({.name = "in order", .order = weir::output_order::input}, sleeping(log_normal(6'000, 3)),
        sleeping(constant(1'500)), take);
    const auto both = [](std::size_t i) -> weir::task<std::size_t> {
        co_await weir::sleep_for(3ms);
        compute(200us);
        co_return i;
    };
    add({.name = "sleeps and processor work"}, computing(constant(300)), both, take);
    const bench::times consumer = log_normal(1'000, 4);
    add({.name = "log-normal consumer"}, sleeping(log_normal(4'000, 5)), computing(constant(100)),
        [&](std::size_t i) { std::this_thread::sleep_for(time_of(consumer, i)); });
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    bench::session session("tuning", argc, argv);
    timing t;
    if (session.quick()) t = {.laps = 4, .lap = 100ms, .trial = 50ms, .window = 100ms};
    const std::vector<double> all = shares(session, t);
    if (all.empty()) return 0;
    session.result("reached_share",
                   static_cast<double>(
                       std::ranges::count_if(all, [](double share) { return share >= 0.95; })) /
                       static_cast<double>(all.size()));
    session.result("least_share", std::ranges::min(all));
}
