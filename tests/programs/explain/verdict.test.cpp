#include <weir/insight/verdict.hpp>

#include "../../../examples/simulate/measure.hpp"
#include "../../../examples/simulate/predicted.hpp"
#include "../../../examples/simulate/times.hpp"
#include "support/catch.hpp"

#include <algorithm>  // for std::max
#include <cmath>      // for std::abs
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <iostream>   // for std::cout
#include <map>        // for std::map
#include <optional>   // for std::optional
#include <random>     // for std::mt19937_64, std::uniform_real_distribution
#include <string>     // for std::string
#include <utility>    // for std::pair
#include <vector>     // for std::vector

// Verdicts are compared with the truth: the cause of the change that brings most if the library itself runs the
// changed pipeline on virtual time. Two simple rules are judged beside them.

using simulate::pipeline_spec;
using simulate::stage_spec;
using weir::change_kind;
using weir::limit_cause;

namespace {

enum class shape { constant, exponential, lognormal };

// Pipelines of which most are limited by the wanted cause. Times are in units of 10 ms for each item.
class drawer {
  public:
    explicit drawer(std::uint64_t seed) : random_(seed) {}

    pipeline_spec pipeline(limit_cause wanted) {
        const bool fits = wanted == limit_cause::balanced;
        kind_ = wanted == limit_cause::room ? pick(1, 2) : fits ? 0 : pick(0, 2);
        const auto load = [&] {
            return fits                          ? uniform(0.99, 1)
                   : wanted == limit_cause::room ? uniform(0.9, 1)
                                                 : uniform(0.3, 0.85);
        };
        pipeline_spec spec;
        spec.items = 2'000;
        spec.sink_capacity = pick(1, 4);
        spec.source_capacity = pick(1, 4);
        const std::size_t n = pick(2, 5);
        for (std::size_t i = 0; i < n; ++i) {
            stage_spec s;
            s.name = "s" + std::to_string(i);
            s.concurrency = pick(1, 6);
            s.capacity = wanted == limit_cause::room ? pick(1, 3) : pick(2, 12);
            mean(s) = static_cast<double>(s.concurrency) * load();
            spec.stages.push_back(s);
        }
        double consumer = fits ? uniform(0.99, 1) : uniform(0.2, 0.8);
        double source = fits ? uniform(0.99, 1) : pick(0, 1) == 1 ? uniform(0.2, 0.8) : 0;
        if (wanted == limit_cause::consumer) consumer = uniform(1.1, 2);
        if (wanted == limit_cause::source) source = uniform(1.1, 2);
        stage_spec& one = spec.stages[pick(0, n - 1)];
        if (wanted == limit_cause::stage) mean(one) = static_cast<double>(one.concurrency) * uniform(1.1, 2);
        if (wanted == limit_cause::order) {
            one.concurrency = pick(4, 8);
            one.capacity = pick(1, 2);
            one.keeps_order = true;
            mean(one) = static_cast<double>(one.concurrency) * uniform(0.9, 1.1);
        }
        if (wanted == limit_cause::threads) share_threads(spec);
        if (wanted == limit_cause::batch) consumer *= add_batches(spec);
        for (stage_spec& s : spec.stages) {
            if (s.kind != simulate::op::pipe) continue;
            s.service_ns = s.keeps_order ? times(mean(s), shape::lognormal, uniform(1, 1.5)) : times(mean(s));
        }
        if (source > 0) spec.source_ns = times(source);
        spec.foreground_ns = times(consumer);
        return spec;
    }

  private:
    std::size_t pick(std::size_t from, std::size_t to) { return from + random_() % (to - from + 1); }
    double uniform(double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(random_);
    }
    double& mean(const stage_spec& s) { return means_[s.name]; }

    // The stages need one to three threads, which they keep busy.
    void share_threads(pipeline_spec& spec) {
        const std::size_t threads = pick(1, 3);
        spec.workers = threads;
        for (stage_spec& s : spec.stages) {
            const double run =
                static_cast<double>(threads) * uniform(1.1, 1.6) / static_cast<double>(spec.stages.size());
            s.computes = true;
            s.run_ns = static_cast<std::int64_t>(1e7 * run);
            mean(s) = std::max(mean(s), run);
            s.concurrency = std::max(s.concurrency, static_cast<std::size_t>(mean(s) / 0.8) + 2);
        }
    }

    // Two stages or more that need a fixed time for each batch. Returns the size.
    double add_batches(pipeline_spec& spec) {
        const std::size_t at = pick(0, spec.stages.size() - 2);
        const std::size_t size = std::size_t{2} << pick(0, 2);
        for (std::size_t i = 0; i < spec.stages.size(); ++i) {
            mean(spec.stages[i]) *= i < at ? 0.4 : static_cast<double>(size) * uniform(1, 1.3);
        }
        stage_spec batch;
        batch.kind = simulate::op::aggregate;
        batch.name = "batch";
        batch.size = size;
        spec.stages.insert(spec.stages.begin() + static_cast<std::ptrdiff_t>(at), batch);
        spec.items = 4'000;
        return static_cast<double>(size) * 0.8;
    }

    std::vector<std::int64_t> times(double mean, std::optional<shape> kind = {}, double sigma = 0.7) {
        const double ns = 1e7 * mean;
        switch (kind.value_or(static_cast<shape>(kind_))) {
            case shape::exponential:
                return simulate::detail::drawn(ns, random_(), [](double p) { return -std::log(1 - p); });
            case shape::lognormal:
                return simulate::detail::drawn(ns, random_(), [sigma](double p) {
                    return std::exp(sigma * simulate::detail::normal_quantile(p));
                });
            case shape::constant:
                break;
        }
        return {static_cast<std::int64_t>(ns)};
    }

    std::mt19937_64 random_;
    std::size_t kind_ = 0;  // the shape of the times that have no other
    std::map<std::string, double> means_;
};

void scale(std::vector<std::int64_t>& times, double factor) {
    for (std::int64_t& each : times)
        each = static_cast<std::int64_t>(static_cast<double>(each) * factor + 0.5);
}

pipeline_spec changed(pipeline_spec spec, const weir::setting_change& change) {
    const auto count = static_cast<std::size_t>(change.value);
    const auto room = [count](std::size_t& of) { of = std::max(of, count); };
    stage_spec* at = nullptr;
    for (stage_spec& s : spec.stages) {
        if (s.name == change.stage) at = &s;
    }
    switch (change.kind) {
        case change_kind::faster:
            scale(at->service_ns, 1 - change.value);
            if (at->run_ns) {
                at->run_ns =
                    static_cast<std::int64_t>(static_cast<double>(*at->run_ns) * (1 - change.value) + 0.5);
            }
            break;
        case change_kind::concurrency:
            at->concurrency = count;
            break;
        case change_kind::capacity:
            for (stage_spec& s : spec.stages) {
                if (change.stage.empty() || s.name == change.stage) room(s.capacity);
            }
            if (change.stage.empty() || change.stage == "src") room(spec.source_capacity);
            if (change.stage.empty() || change.stage == "sink") room(spec.sink_capacity);
            break;
        case change_kind::batch_size:
            at->size = count;
            break;
        case change_kind::completion_order:
            at->keeps_order = false;
            break;
        case change_kind::threads:
            spec.workers = count;
            break;
        case change_kind::consumer:
            scale(spec.foreground_ns, 0);
            break;
        case change_kind::source:
            spec.source_ns.clear();
            break;
        case change_kind::max_bytes:  // specs have no limits of bytes
            break;
    }
    return spec;
}

// The rate at which the consumer takes items, after the first `skipped`, in a run on virtual time.
double real_rate(const pipeline_spec& spec, std::uint64_t skipped) {
    weir::virtual_time clock;
    std::vector<std::int64_t> takes;
    static_cast<void>(simulate::detail::with_experiment(spec, clock, [&](auto& e) {
        simulate::measurement m = simulate::detail::measure_part(e);
        takes = e.takes();
        return m;
    }));
    const auto time = static_cast<double>(takes.back() - takes.at(skipped - 1));
    return static_cast<double>(takes.size() - skipped) * 1e9 / time;
}

// Cause and stage. The room of all queues is one cause.
using named_cause = std::pair<limit_cause, std::string>;

named_cause cause_of(const weir::setting_change& change) {
    const limit_cause cause = weir::detail::cause_of(change.kind);
    return {cause, cause == limit_cause::room ? std::string() : change.stage};
}

struct tally {
    int pipelines = 0, right = 0, unsure = 0, wrong = 0, busiest_right = 0, readiness_right = 0,
        states_right = 0;
    double worst_error = 0;  // of a predicted rate
};

// What most tools say: the stage with the greatest share of its time at work, or the one behind which readiness
// falls.
std::string busiest(const weir::pipeline_stats& stats) {
    std::string name;
    double most = -1;
    for (const weir::stage_stats& s : stats.stages) {
        if (s.kind == "sink") continue;
        const weir::slot_times t = s.times();
        const double share =
            static_cast<double>(t.busy().count()) / static_cast<double>(t.total().count() + 1);
        if (share > most) {
            most = share;
            name = s.name;
        }
    }
    return name;
}
std::string where_readiness_falls(const weir::pipeline_stats& stats) {
    std::string name;
    double deepest = -1;
    double before = 1;
    for (std::size_t i = 0; i + 1 < stats.channels.size(); ++i) {
        const double fall = before - stats.channels[i].readiness();
        if (fall > deepest) {
            deepest = fall;
            name = stats.channels[i].name;
        }
        before = stats.channels[i].readiness();
    }
    return name;
}

void judge(const pipeline_spec& spec, tally& all) {
    const weir::recording from = simulate::to_recording(spec);
    std::uint64_t consumed = *spec.items;
    for (const stage_spec& s : spec.stages) consumed /= s.size;
    weir::what_if_options options;
    options.simulation.items = 1'000'000'000;
    options.simulation.skipped = consumed / 10;
    const weir::what_if_result result = weir::what_if(from, options);
    const weir::verdict verdict = weir::judge(result, from);

    const double today = real_rate(spec, options.simulation.skipped);
    const auto error = [&all](double predicted, double real) {
        all.worst_error = std::max(all.worst_error, std::abs(predicted / real - 1));
    };
    error(result.today.rate, today);
    std::map<named_cause, double> gains;
    double most = 0;
    for (const weir::predicted_change& each : result.changes) {
        const double rate = real_rate(changed(spec, each.change), options.simulation.skipped);
        error(each.rate, rate);
        const double elements =
            weir::detail::elements_per_item(weir::with_change(from.settings, each.change, from)) /
            weir::detail::elements_per_item(from.settings);
        double& gain = gains[cause_of(each.change)];
        gain = std::max(gain, elements * rate / today - 1);
        most = std::max(most, gain);
    }
    // Changes within 2 % of the best one are as right.
    const auto is_right = [&](const named_cause& cause) {
        if (cause.first == limit_cause::balanced) return most < 0.05 + 0.02;
        const auto found = gains.find(cause);
        return found != gains.end() && most > 0.05 - 0.02 && (1 + found->second) > (1 + most) * 0.98;
    };
    ++all.pipelines;
    const named_cause said{verdict.cause, verdict.cause == limit_cause::room ? std::string() : verdict.stage};
    if (verdict.cause == limit_cause::unsure) {
        ++all.unsure;
    } else if (is_right(said)) {
        ++all.right;
    } else {
        ++all.wrong;
        std::cout << "wrong: " << verdict.sentence << "; the best change brings " << most << '\n';
    }
    const weir::pipeline_stats stats = simulate::measure_virtual(spec).stats;
    const weir::detail::visible_limit seen = weir::detail::limit_by_states(stats);
    all.states_right +=
        is_right({seen.cause,
                  seen.cause == limit_cause::stage || seen.cause == limit_cause::order ? seen.stage : ""})
            ? 1
            : 0;
    const auto blames = [&](const std::string& name) {
        return is_right({limit_cause::stage, name}) || (name == "src" && is_right({limit_cause::source, ""}));
    };
    all.busiest_right += blames(busiest(stats)) ? 1 : 0;
    all.readiness_right += blames(where_readiness_falls(stats)) ? 1 : 0;
}

// `each`: pipelines for each of eight causes.
tally judged(std::uint64_t each) {
    tally all;
    for (std::uint64_t seed = 1; seed <= each; ++seed) {
        for (const limit_cause wanted :
             {limit_cause::stage, limit_cause::room, limit_cause::order, limit_cause::batch,
              limit_cause::threads, limit_cause::source, limit_cause::consumer, limit_cause::balanced}) {
            judge(drawer(seed).pipeline(wanted), all);
        }
    }
    std::cout << all.pipelines << " pipelines: " << all.right << " verdicts right, " << all.unsure
              << " not sure, " << all.wrong << " wrong; the busiest stage right in " << all.busiest_right
              << ", readiness that falls in " << all.readiness_right << ", the states in " << all.states_right
              << "; worst error of a predicted rate " << all.worst_error << '\n';
    return all;
}

}  // namespace

TEST_CASE("the verdict names the change that brings most, in 16 pipelines with eight causes") {
    const tally all = judged(2);
    CHECK(all.wrong == 0);
    CHECK(all.right >= 14);
    CHECK(all.states_right >= 11);
    CHECK(all.worst_error < 1e-9);
}

TEST_CASE("the verdict names the change that brings most, in 240 pipelines with eight causes", "[.long]") {
    const tally all = judged(30);
    CHECK(all.wrong <= all.pipelines / 100);
    CHECK(all.unsure <= all.pipelines / 10);
    CHECK(all.right >= all.pipelines * 90 / 100);
    CHECK(all.right * 100 >= (all.pipelines - all.unsure) * 95);
    CHECK(all.worst_error < 1e-9);
    CHECK(all.busiest_right < all.right);
    CHECK(all.states_right >= all.pipelines * 7 / 10);
}
