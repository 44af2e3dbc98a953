// Graphs of all kinds of stages, made from numbers that somebody picks: as a pipeline, and as what a program
// without any concurrency would do with the items.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_GRAPHS_HPP
#define WEIR_TESTS_SUPPORT_GRAPHS_HPP

#include "support/blocks.hpp"

#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace graphs {

using weir::channel_stats;
using weir::duration;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::task;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using lists = std::vector<ints>;

// Collects what is wrong, a line each.
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

// `has_consumer`: who takes from the last queue; without one its end is a stage.
inline void check_accounts(const pipeline_stats& s, complaints& wrong, bool at_one_instant = true,
                           bool has_consumer = true) {
    for (const stage_stats& stage : s.stages) {
        for (const weir::slot_times& t : stage.per_slot) {
            wrong.check(t.total() == stage.elapsed, stage.name, "each slot's states sum to elapsed");
            wrong.check(t.off >= 0ns && t.wait_get >= 0ns && t.await >= 0ns && t.wait_put >= 0ns &&
                            t.wait_turn >= 0ns && t.overhead >= 0ns,
                        stage.name, "no state is negative");
        }
        if (at_one_instant) {
            wrong.check(stage.elapsed == s.elapsed, stage.name, "a stage's time is the run's");
            wrong.check(stage.times().runnable == 0ns && stage.times().run == 0ns, stage.name,
                        "work takes no time on virtual time");
        }
        wrong.check(stage.busy == stage.times().busy(), stage.name, "busy is run + await");
        if (!at_one_instant) continue;
        duration put = 0ns, get = 0ns;
        for (const std::size_t i : stage.outputs) put += s.channels.at(i).put_wait;
        for (const std::size_t i : stage.inputs) get += s.channels.at(i).get_wait;
        wrong.check(stage.times().wait_put == put, stage.name,
                    "wait_put is the put_wait of the queues behind it");
        wrong.check(stage.times().wait_get == get, stage.name,
                    "wait_get is the get_wait of the queues before it");
    }
    std::vector<int> makers(s.channels.size()), takers(s.channels.size());
    for (const stage_stats& stage : s.stages) {
        for (const std::size_t i : stage.outputs) ++makers.at(i);
        for (const std::size_t i : stage.inputs) ++takers.at(i);
    }
    for (std::size_t i = 0; i < s.channels.size(); ++i) {
        const channel_stats& q = s.channels[i];
        wrong.check(makers[i] == 1, q.name, "one stage puts into each queue");
        wrong.check(takers[i] == (has_consumer && i + 1 == s.channels.size() ? 0 : 1), q.name,
                    "one stage takes from each queue");
        wrong.check(!at_one_instant || q.elapsed == s.elapsed, q.name, "a queue's time is the run's");
        wrong.check(0ns <= q.empty && q.empty <= q.elapsed, q.name, "0 <= empty <= elapsed");
        wrong.check(0ns <= q.put_blocked && q.put_blocked <= q.put_wait, q.name, "put_blocked <= put_wait");
        wrong.check(0ns <= q.get_blocked && q.get_blocked <= q.get_wait, q.name, "get_blocked <= get_wait");
        wrong.check(q.put_blocked + q.empty <= q.elapsed, q.name, "nobody waits to put while it is empty");
        wrong.check(q.get_blocked <= q.empty, q.name, "nobody waits to get unless it is empty");
    }
}

// Of a snapshot from the beginning on, whatever ended the run, or has not yet.
inline void check_total(const pipeline_stats& s, complaints& wrong) {
    for (const channel_stats& q : s.channels) {
        wrong.check(q.num_put == q.num_get + q.num_discarded + q.size, q.name,
                    "what was put was got, was discarded, or is inside");
        wrong.check(q.size <= q.num_put && q.num_get <= q.num_put, q.name, "no more comes out than went in");
    }
}

// `whole`: nothing was left over, as what has no partner in a zip is.
inline void check_end(const pipeline_stats& s, bool whole, complaints& wrong) {
    for (const channel_stats& q : s.channels) {
        if (whole)
            wrong.check(q.num_put == q.num_get && q.num_discarded == 0, q.name, "what went in came out");
        wrong.check(q.size == 0 && q.bytes == 0, q.name, "nothing is left inside");
        wrong.check(q.put_waits.count() == q.num_put && q.get_waits.count() == q.num_get, q.name,
                    "each operation is in its histogram");
        wrong.check(q.put_waits.sum() <= q.put_wait && q.get_waits.sum() <= q.get_wait, q.name,
                    "the histograms hold finished waits");
    }
    for (const stage_stats& stage : s.stages) {
        wrong.check(stage.task_times.count() == stage.num_tasks - stage.num_failures, stage.name,
                    "each success is in the histogram");
    }
}

inline int mix(int n, int salt) {
    return static_cast<int>((static_cast<unsigned>(n) * 31U + static_cast<unsigned>(salt)) % 100'003U);
}

// One stage, as a value; `a`, `b`: what is in its branches.
struct stage_plan {
    enum { map, drop, twice, fails, batch, fill, side, route, split } kind = map;
    int salt = 0;
    int unit = 0;
    weir::stage_options how;
    std::size_t size = 1;
    weir::split_order order = weir::split_order::elements;
    std::vector<stage_plan> a, b;

    duration delay_of(int n) const { return duration(unit == 0 ? 0 : mix(n, salt) % unit); }
    bool drops(int n) const { return mix(n, salt) % 5 == 1; }
    // In the order of the input, no other item takes the place of one that fails.
    bool loses(int n) const {
        return drops(n) && (kind != fill || how.output_order == weir::output_order::completion);
    }
};
using plan = std::vector<stage_plan>;

// What a program without concurrency does with the items of an epoch, and how many of them fail.
class reference {
  public:
    ints run(const plan& stages, ints in) {
        for (const stage_plan& s : stages) in = run(s, in);
        return in;
    }
    std::size_t failures() const noexcept { return failures_; }

  private:
    ints run(const stage_plan& s, const ints& in) {
        ints out;
        ints left, right;
        switch (s.kind) {
            case stage_plan::map:
                for (const int n : in) out.push_back(mix(n, s.salt));
                break;
            case stage_plan::drop:
                std::ranges::copy_if(in, std::back_inserter(out), [&s](int n) { return !s.drops(n); });
                break;
            case stage_plan::fails:
            case stage_plan::fill:
                std::ranges::copy_if(in, std::back_inserter(out), [&s](int n) { return !s.loses(n); });
                failures_ += in.size() - out.size();
                break;
            case stage_plan::twice:
                for (const int n : in) {
                    out.push_back(n);
                    if (n % 2 == 0) out.push_back(n + 1);
                }
                break;
            case stage_plan::route:
                for (const int n : in) {
                    if (s.drops(n)) {
                        ++failures_;
                    } else {
                        (n % 3 == 0 ? left : n % 3 == 1 ? right : out).push_back(n);
                    }
                }
                for (const int n : run(s.a, left)) out.push_back(n);
                for (const int n : run(s.b, right)) out.push_back(n);
                break;
            case stage_plan::split:
                for (const int n : in) out.push_back(n % 2 == 0 ? n / 2 : mix(n, s.salt));
                break;
            case stage_plan::side:
                run(s.a, in);
                out = in;
                break;
            default:
                out = in;
        }
        return out;
    }

    std::size_t failures_ = 0;
};

// The same as stages.
template <class Policies>
weir::stage_list<int, Policies> stages_of(const plan& stages);
template <class Policies>
void add(weir::stage_list<int, Policies>& list, const stage_plan& s) {
    const auto only = [](int) { return 0; };
    switch (s.kind) {
        case stage_plan::map:
            list.add(weir::pipe(
                [s](int n) -> task<int> {
                    co_await weir::sleep_for(s.delay_of(n));
                    co_return mix(n, s.salt);
                },
                s.how));
            break;
        case stage_plan::drop:
            list.add(weir::pipe(
                [s](int n) -> std::optional<int> {
                    if (s.drops(n)) return std::nullopt;
                    return n;
                },
                s.how));
            break;
        case stage_plan::fails:
            list.add(weir::pipe(
                [s](int n) -> task<int> {
                    co_await weir::sleep_for(s.delay_of(n));
                    if (s.drops(n)) throw std::runtime_error("tolerated");
                    co_return n;
                },
                s.how));
            break;
        case stage_plan::twice:
            list.add(weir::pipe(
                [](int n) -> weir::generator<int> {
                    co_yield n + 0;
                    if (n % 2 == 0) co_yield n + 1;
                },
                s.how));
            break;
        case stage_plan::batch:
            list.add(weir::route(only, {.name = s.how.name, .capacity = s.how.capacity},
                                 weir::branch(s.how.name + "_part",
                                              weir::aggregate(s.size) | weir::disaggregate())));
            break;
        case stage_plan::fill: {
            static blocks::vectors pool;
            const auto write = [s](int n, std::span<int> place) -> task<> {
                co_await weir::sleep_for(s.delay_of(n));
                if (s.loses(n)) throw std::runtime_error("tolerated");
                place[0] = n;
            };
            list.add(weir::route(only, {.name = s.how.name, .capacity = s.how.capacity},
                                 weir::branch(s.how.name + "_part",
                                              weir::batch_slots<int>(pool, {.places = s.size}, write,
                                                                     {.concurrency = s.how.concurrency,
                                                                      .output_order = s.how.output_order,
                                                                      .capacity = s.how.capacity}) |
                                                  weir::disaggregate())));
            break;
        }
        case stage_plan::side:
            list.add(weir::tee(stages_of<Policies>(s.a), {.name = s.how.name, .capacity = s.how.capacity}));
            break;
        case stage_plan::route:
            list.add(weir::route(
                [s](const int& n) -> task<int> {
                    co_await weir::sleep_for(s.delay_of(n) / 4);
                    if (s.drops(n)) throw std::runtime_error("tolerated");
                    co_return n % 3;
                },
                {.name = s.how.name, .capacity = s.how.capacity},
                weir::branch(s.how.name + "_a", stages_of<Policies>(s.a)),
                weir::branch(s.how.name + "_b", stages_of<Policies>(s.b)), weir::branch(s.how.name + "_c")));
            break;
        default: {
            weir::stage_options slow = s.how;
            slow.name += "_odd";
            const auto half = weir::pipe([](ints part) {
                for (int& n : part) n /= 2;
                return part;
            });
            const auto mixes = weir::pipe(
                [s](ints part) -> task<ints> {
                    co_await weir::sleep_for(s.delay_of(static_cast<int>(part.size())));
                    for (int& n : part) n = mix(n, s.salt);
                    co_return part;
                },
                slow);
            list.add(
                weir::route(only, {.name = s.how.name + "_around"},
                            weir::branch(s.how.name + "_in", weir::aggregate(s.size) |
                                                                 weir::split([](int n) { return n % 2; },
                                                                             {.name = s.how.name,
                                                                              .capacity = s.how.capacity,
                                                                              .order = s.order},
                                                                             weir::branch("even", half),
                                                                             weir::branch("odd", mixes)) |
                                                                 weir::disaggregate())));
        }
    }
}
template <class Policies>
weir::stage_list<int, Policies> stages_of(const plan& stages) {
    weir::stage_list<int, Policies> list;
    for (const stage_plan& s : stages) add(list, s);
    return list;
}

// A source, and the stages behind it.
struct input_plan {
    lists items;  // of each epoch
    std::size_t capacity = 1;
    plan stages;
};

template <bool Epochs, class Policies>
auto describe(const input_plan& p) {
    if constexpr (Epochs) {
        return weir::source(weir::epochs([items = p.items](std::uint64_t e) { return items.at(e); },
                                         p.items.size()),
                            {.capacity = p.capacity}) |
               stages_of<Policies>(p.stages);
    } else {
        return weir::source(p.items.at(0), {.capacity = p.capacity}) | stages_of<Policies>(p.stages);
    }
}

inline auto sum2() {
    return weir::pipe(
        [](const std::tuple<int, int>& row) { return (std::get<0>(row) + 7 * std::get<1>(row)) % 100'003; });
}

// What has to come of it.
struct expectation {
    lists items;  // of each epoch
    std::size_t failures = 0;
    bool whole = true;     // nothing is left over, as what has no partner in a zip is
    bool ordered = false;  // the items come in this order
};

// `Pick`: gives an int from the first to the second argument. `Policies`: those of the runs.
template <bool Epochs, class Policies, class Pick>
class random_graph {
  public:
    explicit random_graph(Pick pick) : pick_(std::move(pick)) {}

    // `where(description without a sink, capacity of the sink, expectation)` is called once.
    template <class Where>
    void run(Where&& where) {
        const auto describe = [](const input_plan& p) { return graphs::describe<Epochs, Policies>(p); };
        expectation all;
        switch (pick(0, 5)) {
            case 0: {
                const input_plan p = input(pick(0, 5), false);
                all.items = expected_of(p);
                where(describe(p), size(), finished(all));
                break;
            }
            case 1: {
                const input_plan p = input(2, false), q = input(3, false);
                all.items = both(expected_of(p), expected_of(q));
                where(weir::merge(how_to_merge(2), describe(p), describe(q)), size(), finished(all));
                break;
            }
            case 2: {
                const input_plan p = input(1, false), q = input(2, false), r = input(0, false);
                all.items = both(both(expected_of(p), expected_of(q)), expected_of(r));
                where(weir::merge(how_to_merge(3), describe(p), describe(q), describe(r)), size(),
                      finished(all));
                break;
            }
            case 3: {
                const input_plan p = input(2, true), q = input(2, true);
                all.items = rows(expected_of(p), expected_of(q));
                all.whole = false;
                where(weir::zip({.capacity = size()}, describe(p), describe(q)) | sum2(), size(),
                      finished(all));
                break;
            }
            case 4: {
                const input_plan p = input(pick(1, 8), true);
                all.items = expected_of(p);
                all.ordered = true;
                where(describe(p), size(), finished(all));
                break;
            }
            default: {
                const input_plan p = input(1, false), q = input(1, false), r = input(1, true),
                                 s = input(2, true), t = input(1, false);
                all.items =
                    both(both(both(expected_of(p), expected_of(q)), rows(expected_of(r), expected_of(s))),
                         expected_of(t));
                all.whole = false;
                where(weir::merge(how_to_merge(3), weir::merge(how_to_merge(2), describe(p), describe(q)),
                                  weir::zip({.capacity = size()}, describe(r), describe(s)) | sum2(),
                                  describe(t)),
                      size(), finished(all));
            }
        }
    }

    int pick(int least, int most) { return pick_(least, most); }
    std::size_t size() { return static_cast<std::size_t>(pick(1, 4)); }

  private:
    plan stages(int count, bool ordered, int depth) {
        plan all;
        for (int i = 0; i < count; ++i) {
            stage_plan s;
            const int kind = pick(0, ordered || depth == 0 ? 5 : 9);
            s.kind = kind == 0   ? stage_plan::drop
                     : kind == 1 ? stage_plan::twice
                     : kind == 2 ? stage_plan::fails
                     : kind == 3 ? (pick(0, 1) == 0 ? stage_plan::batch : stage_plan::fill)
                     : kind == 4 ? stage_plan::split
                     : kind == 6 ? stage_plan::side
                     : kind >= 8 ? stage_plan::route
                                 : stage_plan::map;
            s.salt = pick(0, 1'000);
            s.unit = pick(0, 2) == 0 ? 0 : pick(1, 200);
            s.size = size();
            if (!ordered && pick(0, 1) == 0) s.order = weir::split_order::branches;
            s.how.name = "s" + std::to_string(named_++);
            s.how.capacity = size();
            s.how.concurrency = static_cast<std::size_t>(pick(0, 7) == 0 ? pick(5, 8) : pick(1, 4));
            const bool keeps = ordered || pick(0, 2) == 0;
            if (s.kind == stage_plan::twice) {
                if (keeps) s.how.concurrency = 1;
            } else if (keeps) {
                s.how.output_order = weir::output_order::input;
            }
            if (s.kind == stage_plan::route || s.kind == stage_plan::side) {
                s.a = stages(pick(0, 2), false, depth - 1);
                s.b = stages(pick(0, 2), false, depth - 1);
            }
            all.push_back(std::move(s));
        }
        return all;
    }

    input_plan input(int count, bool ordered) {
        input_plan p;
        int next = pick(0, 10'000);
        const int many = Epochs ? pick(0, 4) : 1;
        for (int e = 0; e < many; ++e) {
            ints items;
            const int n = pick(0, 3) == 0 ? pick(0, 2) : pick(0, 25);
            for (int i = 0; i < n; ++i) items.push_back(next++);
            p.items.push_back(std::move(items));
        }
        p.capacity = size();
        p.stages = stages(count, ordered, 2);
        return p;
    }

    lists expected_of(const input_plan& p) {
        lists all;
        reference plain;
        for (const ints& each : p.items) all.push_back(plain.run(p.stages, each));
        failures_ += plain.failures();
        return all;
    }
    expectation finished(expectation all) const {
        all.failures = failures_;
        return all;
    }
    static lists both(lists a, const lists& b) {
        if (a.size() < b.size()) a.resize(b.size());
        for (std::size_t i = 0; i < b.size(); ++i) a[i].insert(a[i].end(), b[i].begin(), b[i].end());
        return a;
    }
    static lists rows(const lists& a, const lists& b) {
        lists all(std::min(a.size(), b.size()));
        for (std::size_t e = 0; e < all.size(); ++e) {
            for (std::size_t i = 0; i < std::min(a[e].size(), b[e].size()); ++i) {
                all[e].push_back((a[e][i] + 7 * b[e][i]) % 100'003);
            }
        }
        return all;
    }

    weir::merge_options how_to_merge(std::size_t inputs) {
        weir::merge_options o;
        o.name = "m" + std::to_string(named_++);
        o.capacity = size();
        o.order = static_cast<weir::merge_order>(pick(0, 4));
        if (o.order == weir::merge_order::weighted || o.order == weir::merge_order::random) {
            for (std::size_t i = 0; i < inputs; ++i) o.weights.push_back(static_cast<double>(pick(0, 4)));
        }
        return o;
    }

    Pick pick_;
    int named_ = 0;
    std::size_t failures_ = 0;
};

}  // namespace graphs

#endif
