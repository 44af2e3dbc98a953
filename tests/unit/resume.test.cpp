// Random pipelines of a sampler's draws, cut behind each item and resumed: wherever a checkpoint is given, the
// consumers take each item exactly once, before the cut or after it; where none is, it is for the reason that
// the docs name.

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/run/failure.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/weighted_sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using weir::checkpoint;
using weir::duration;
using weir::task;
using namespace std::chrono_literals;

namespace {

// What was made of a draw. Each part of it has a number of its own.
struct part {
    std::uint64_t position = 0;
    std::uint64_t number = 1;
    bool padded = false;  // another rank has it, too

    part() = default;
    explicit part(const weir::draw& d) : position(d.position), padded(d.padded) {}
    part(const part& of, std::uint64_t which) : position(of.position), number(which), padded(of.padded) {}
    auto operator<=>(const part&) const = default;

    std::uint64_t mix(std::uint64_t salt) const {
        return (position * 31 + number * 17 + salt) * 2654435761U >> 7U;
    }
};
using batch = std::vector<part>;
struct crate : batch {
    explicit crate(batch&& parts) : batch(std::move(parts)) {}
};
using bag = std::map<part, int>;  // how often each was taken
using stages = weir::stage_list<part, weir::policies<weir::measured>>;

enum class exact {
    always,  // a checkpoint is given at every item
    at_times,
    never
};
constexpr auto torn = "weir: no checkpoint is exact now: of what was made of one draw, or of one batch";
constexpr auto of_no_sampler = "its one source has to be a sampler, which knows where to go on";

// Where the draws come from. Those of the last line have no checkpoint.
enum class origin { sampler, weighted, merged, chosen, zipped, cached, two, zipped_with_two, with_a_range };

struct plan {
    stages row;
    exact grade = exact::always;
    std::string why;                 // there is none, if there never is
    bool drops_rest = false;         // which items are dropped depends on the order
    bool drops_as_many = true;       // but not how many
    std::string text;                // for the message
    std::vector<std::string> pipes;  // by name
    std::shared_ptr<bool> for_once = std::make_shared<bool>(false);  // what may fail does so now
    origin from = origin::sampler;
    std::uint64_t size = 0, epochs = 0, draws = 0;
    bool shuffle = true;
    weir::tail tail = weir::tail::exact;
};

class generated {
  public:
    explicit generated(std::uint64_t seed) : random_(seed) {}

    std::uint64_t pick(std::uint64_t most) { return random_() % (most + 1); }
    std::size_t size(std::uint64_t most) { return static_cast<std::size_t>(1 + pick(most - 1)); }

    plan make() {
        plan p;
        p.size = 3 + pick(7);
        p.epochs = 1 + pick(1);
        p.draws = pick(3) == 0 ? p.size - 1 + pick(2) : 0;
        p.shuffle = pick(3) != 0;
        p.tail = pick(1) == 0 ? weir::tail::exact : pick(1) == 0 ? weir::tail::pad : weir::tail::drop;
        p.from = static_cast<origin>(pick(1) == 0 ? 0 : pick(9 * 2) % 9);
        p.text = " of origin " + std::to_string(static_cast<int>(p.from)) + " and kinds";
        if (p.from == origin::cached) never(p, "stage 'kept' repeats what its source can't go on from");
        if (p.from > origin::cached) never(p, of_no_sampler);
        const std::uint64_t count = pick(4);
        for (std::uint64_t i = 0; i < count; ++i) add(p, i);
        return p;
    }

  private:
    weir::stage_options options(std::uint64_t place) {
        weir::stage_options o;
        o.name = "s" + std::to_string(place);
        o.concurrency = size(3);
        o.capacity = size(3);
        if (pick(1) == 0) o.output_order = weir::output_order::input;
        return o;
    }
    static void lower(plan& p, exact to) { p.grade = std::max(p.grade, to); }
    static void never(plan& p, const std::string& why) {
        lower(p, exact::never);
        p.why = "weir: this run has no checkpoint: " + why;  // which is told of the last one
    }
    // What leaves depends on which items come.
    static void chooses(plan& p) { p.drops_as_many = p.drops_as_many && !p.drops_rest; }
    template <class Part>
    static void add_row(plan& p, std::uint64_t place, Part row) {
        p.row.add(weir::route([](const part&) { return 0; }, {.name = "r" + std::to_string(place)},
                              weir::branch("b" + std::to_string(place), std::move(row))));
    }

    void add(plan& p, std::uint64_t place) {
        const weir::stage_options o = options(place);
        const std::string name = o.name;
        const std::uint64_t salt = pick(99);
        weir::stage_options free = o;
        free.output_order = weir::output_order::completion;
        const auto passes = [](batch b) { return b; };
        const std::uint64_t kind = pick(37);
        p.text += " " + std::to_string(kind);
        if (kind >= 20) return add_other(p, kind, o, salt);
        if (kind < 5) p.pipes.push_back(name);
        switch (kind) {
            case 0:
            case 1:
                p.row.add(weir::pipe(
                    [salt](part x) -> task<part> {
                        co_await weir::sleep_for(duration(x.mix(salt) % 50));
                        co_return x;
                    },
                    o));
                break;
            case 2:
                p.row.add(weir::filter([salt](const part& x) { return x.mix(salt) % 5 != 0; }, o));
                chooses(p);
                break;
            case 3: {
                chooses(p);
                weir::stage_options some = o;
                some.max_failures = weir::unlimited;
                p.row.add(weir::pipe(
                    [salt](part x) {
                        if (x.mix(salt) % 6 == 0) throw std::runtime_error("tolerated");
                        return x;
                    },
                    some));
                break;
            }
            case 4:
                p.row.add(weir::pipe(weir::retry([](const part& x) { return x; }), o));
                break;
            case 5:  // an expansion
                p.row.add(weir::flat_map(
                    [salt](part x) -> weir::generator<part> {
                        for (std::uint64_t i = 0; i < x.mix(salt) % 4; ++i)
                            co_yield part(x, 4 * x.number + i);
                    },
                    free));
                lower(p, exact::at_times);
                chooses(p);
                break;
            case 6:
                p.row.add(weir::shuffle(size(5), salt));
                break;
            case 7:
                add_row(p, place, weir::aggregate(size(5)) | weir::disaggregate());
                break;
            case 8:
            case 9: {
                weir::stage_options each = o;
                each.elementwise = true;
                add_row(p, place,
                        weir::aggregate(size(5)) |
                            weir::pipe(
                                [salt](batch b) -> task<batch> {
                                    co_await weir::sleep_for(duration(b.front().mix(salt) % 90));
                                    co_return b;
                                },
                                each) |
                            weir::disaggregate());
                break;
            }
            case 10:  // which element is of which draw is not known
                add_row(p, place,
                        weir::aggregate(size(5)) |
                            weir::pipe(
                                [](batch b) {
                                    std::ranges::reverse(b);
                                    return b;
                                },
                                o) |
                            weir::disaggregate());
                lower(p, exact::at_times);
                break;
            case 11:  // a batch of another size
                add_row(p, place,
                        weir::aggregate(size(5)) |
                            weir::pipe(
                                [salt](batch b) {
                                    batch all;
                                    for (const part& x : b) {
                                        for (std::uint64_t i = 0; i < x.mix(salt) % 3; ++i)
                                            all.emplace_back(x, 3 * x.number + i);
                                    }
                                    std::ranges::sort(all);
                                    return all;
                                },
                                o) |
                            weir::disaggregate());
                lower(p, exact::at_times);
                chooses(p);
                break;
            case 12:
                add_row(p, place,
                        weir::aggregate(size(4), true) | weir::pipe(passes, {.elementwise = true}) |
                            weir::disaggregate());
                lower(p, exact::at_times);
                p.drops_rest = true;
                break;
            case 13:
                add_row(p, place,
                        weir::aggregate(size(4)) |
                            weir::split([](const part& x) { return x.position % 2; },
                                        {.order = pick(1) == 0 ? weir::split_order::elements
                                                               : weir::split_order::branches},
                                        weir::branch(name + "even", weir::pipe(passes)),
                                        weir::branch(name + "odd")) |
                            weir::disaggregate());
                lower(p, exact::at_times);
                break;
            case 14:  // batches of batches
                add_row(p, place,
                        weir::aggregate(size(3)) | weir::aggregate(size(3)) | weir::disaggregate() |
                            weir::disaggregate());
                break;
            case 15:
                p.row.add(weir::tee(weir::pipe([](part x) { return x; }) | weir::take(3), {.name = name}));
                break;
            case 16:
                p.row.add(weir::route([](const part& x) { return x.position % 2; }, {.name = name},
                                      weir::branch(name + "a", weir::pipe([](part x) { return x; }, free)),
                                      weir::branch(name + "b")));
                break;
            case 17:
                add_row(p, place,
                        weir::aggregate_by_weight(3 + pick(3), [](const part& x) { return x.position % 3; }) |
                            weir::shuffle(2, salt) | weir::disaggregate());
                break;
            case 18:
                add_row(p, place, weir::aggregate(by_key()) | weir::disaggregate());
                lower(p, exact::at_times);
                break;
            default:
                switch (pick(2)) {
                    case 0:
                        p.row.add(weir::take(5, {.name = name}));
                        never(p, "stage '" + name + "' would take as many items again in a resumed run");
                        break;
                    case 1:
                        p.row.add(weir::skip(2, {.name = name}));
                        never(p, "stage '" + name + "' would skip as many items again in a resumed run");
                        break;
                    default:
                        add_row(p, place, weir::aggregate(hoarder(), {.name = name}) | weir::disaggregate());
                        never(p, "stage '" + name + "' may hold items longer than until its next batch");
                }
        }
    }

    // One of the branches breaks, another one gives up.
    template <class F>
    static auto breaking_route(F breaks, std::uint64_t salt) {
        return weir::route(
            [](const part& x) { return x.position / 2 % 2; }, weir::branch("x", weir::pipe(breaks)),
            weir::branch("y", weir::pipe(
                                  [salt](part x, const weir::invocation& call) -> task<std::optional<part>> {
                                      auto pause = weir::sleep_for(duration(x.mix(salt) % 30), call.stop());
                                      const bool whole = co_await std::move(pause);
                                      if (!whole) co_return std::nullopt;
                                      co_return x;
                                  })));
    }

    // Those that end early when the run is stopped, or fails.
    void add_other(plan& p, std::uint64_t kind, const weir::stage_options& o, std::uint64_t salt) {
        const std::string& name = o.name;
        weir::stage_options some = o;
        some.max_failures = weir::unlimited;
        weir::stage_options free = o;
        free.output_order = weir::output_order::completion;
        const auto for_once = p.for_once;
        const auto breaks = [for_once, salt](part x) {
            if (*for_once && x.mix(salt) % 7 == 0) throw std::runtime_error("fatal");
            return x;
        };
        const auto add_to = [&p, place = std::stoull(name.substr(1))](auto row) {
            add_row(p, place, std::move(row));
        };
        switch (kind) {
            case 20:
                p.row.add(weir::flat_map(
                    [salt](part x, const weir::invocation& call) -> weir::async_generator<part> {
                        for (std::uint64_t i = 0; i < 1 + x.mix(salt) % 3; ++i) {
                            auto pause = weir::sleep_for(duration(x.mix(salt) % 40), call.stop());
                            const bool whole = co_await std::move(pause);
                            if (!whole) co_return;
                            co_yield part(x, 4 * x.number + i);
                        }
                    },
                    free));
                lower(p, exact::at_times);
                chooses(p);
                break;
            case 21:  // another failure than `stopped`
                p.row.add(weir::pipe(
                    [salt](part x, const weir::invocation& call) -> task<part> {
                        auto pause = weir::sleep_for(duration(x.mix(salt) % 40), call.stop());
                        const bool whole = co_await std::move(pause);
                        if (!whole) throw std::runtime_error("gave up");
                        co_return x;
                    },
                    some));
                break;
            case 22: {  // every other call fails
                const auto calls = std::make_shared<bag>();
                p.row.add(weir::pipe(weir::retry(
                                         [for_once, calls, salt](const part& x) {
                                             if (*for_once && x.mix(salt) % 3 == 0 && (*calls)[x]++ % 2 == 0)
                                                 throw std::runtime_error("again");
                                             return x;
                                         },
                                         {.delay = 30ns}),
                                     some));
                break;
            }
            case 23:
                p.row.add(weir::filter(
                    [salt](const part& x, const weir::invocation& call) -> task<bool> {
                        auto pause = weir::sleep_for(duration(x.mix(salt) % 40), call.stop());
                        const bool whole = co_await std::move(pause);
                        co_return whole&& x.mix(salt) % 5 != 0;
                    },
                    o));
                chooses(p);
                break;
            case 24:
                p.row.add(weir::pipe(breaks, o));
                break;
            case 25:
                add_to(weir::aggregate(size(5)) |
                       weir::split([](const part& x) { return x.position % 2; },
                                   {.order = weir::split_order::branches},
                                   weir::branch("even", weir::disaggregate() | breaking_route(breaks, salt) |
                                                            weir::aggregate(size(3))),
                                   weir::branch("odd")) |
                       weir::disaggregate());
                lower(p, exact::at_times);
                break;
            case 26:
                some.time_limit = duration(25);
                p.row.add(weir::pipe(
                    [salt](part x) -> task<part> {
                        co_await weir::sleep_for(duration(10 * (x.mix(salt) % 5)));
                        co_return x;
                    },
                    some));
                chooses(p);
                break;
            case 27:
                if (pick(1) == 0) {
                    add_to(weir::aggregate(size(5), {.max_delay = duration(1 + pick(60))}) |
                           weir::disaggregate());
                } else {
                    add_to(weir::aggregate_for(duration(1 + pick(60))) | weir::disaggregate());
                }
                break;
            case 28:  // what is at which place of a type of one's own is not known
                add_to(weir::aggregate<crate>(size(5)) | weir::disaggregate());
                lower(p, exact::at_times);
                break;
            case 29: {
                const bool tolerates = pick(1) == 0;
                if (tolerates) chooses(p);
                p.row.add(weir::route(
                    [for_once, salt, tolerates](const part& x) {
                        if ((tolerates || *for_once) && x.mix(salt) % 6 == 0)
                            throw std::runtime_error("neither");
                        return x.position % 2;
                    },
                    {.name = name, .max_failures = tolerates ? weir::unlimited : weir::failure_limit()},
                    weir::branch(name + "a"), weir::branch(name + "b", weir::pipe(breaks, free))));
                break;
            }
            case 30:  // a branch gives less than it was given
                add_to(weir::aggregate(size(5)) |
                       weir::split(
                           [](const part& x) { return x.position % 2; },
                           {.order = pick(1) == 0 ? weir::split_order::elements : weir::split_order::branches,
                            .max_failures = weir::unlimited},
                           weir::branch("even",
                                        weir::pipe([](batch b, const weir::invocation& call) -> task<batch> {
                                            auto pause = weir::sleep_for(30ns, call.stop());
                                            const bool whole = co_await std::move(pause);
                                            if (!whole) b.clear();
                                            co_return b;
                                        })),
                           weir::branch("odd")) |
                       weir::disaggregate());
                lower(p, exact::at_times);
                break;
            case 31:  // on the side
                switch (pick(2)) {
                    case 0:
                        p.row.add(weir::tee(weir::skip(2), {.name = name}));
                        break;
                    case 1:
                        p.row.add(weir::tee(weir::cache(2), {.name = name}));
                        break;
                    default:
                        p.row.add(weir::tee(weir::aggregate(hoarder()), {.name = name}));
                }
                break;
            case 32:  // batches of batches
                add_to(weir::aggregate(size(3)) | weir::aggregate(size(3)) |
                       weir::pipe([](std::vector<batch> b) { return b; }, {.elementwise = true}) |
                       weir::disaggregate() | weir::disaggregate());
                break;
            case 33:
                add_to(weir::aggregate(size(5)) |
                       weir::filter([](const batch& b) { return !b.empty(); }, {.elementwise = true}) |
                       weir::tee(weir::disaggregate() | weir::take(2)) | weir::disaggregate());
                break;
            case 34:
                add_to(weir::aggregate(sieve()) | weir::disaggregate());
                lower(p, exact::at_times);
                chooses(p);
                break;
            case 35:
                add_to(weir::aggregate(size(4), true) | weir::disaggregate());
                lower(p, exact::at_times);
                p.drops_rest = true;
                break;
            case 36:  // a stage that adds items to itself
                p.row.add(weir::traverse(
                    [salt](part x, weir::feeder<part>& more) -> task<part> {
                        if (x.number < 64 && x.mix(salt) % 3 != 0) more.add(part(x, 4 * x.number + 1));
                        co_await weir::sleep_for(duration(x.mix(salt) % 40));
                        co_return x;
                    },
                    {.name = o.name,
                     .concurrency = o.concurrency,
                     .order =
                         salt % 2 == 0 ? weir::traverse_order::depth_first : weir::traverse_order::as_found,
                     .capacity = o.capacity}));
                lower(p, exact::at_times);
                chooses(p);
                break;
            default:
                p.row.add(breaking_route(breaks, salt));
        }
    }

    // All of a batch is of one third of the draws.
    struct by_key {
        std::optional<batch> accumulate(part x) {
            std::optional<batch> full;
            if (!held.empty() && held.front().position / 3 != x.position / 3) full = std::exchange(held, {});
            keeps = full.has_value();
            held.push_back(x);
            return full;
        }
        std::optional<batch> flush() {
            if (held.empty()) return std::nullopt;
            return std::exchange(held, {});
        }
        bool keeps_last() const { return keeps; }

        batch held;
        bool keeps = false;
    };
    // Leaves out every third draw.
    struct sieve {
        std::optional<batch> accumulate(part x) {
            if (x.position % 3 == 0) return std::nullopt;
            held.push_back(x);
            if (held.size() < 3) return std::nullopt;
            return std::exchange(held, {});
        }
        std::optional<batch> flush() {
            if (held.empty()) return std::nullopt;
            return std::exchange(held, {});
        }
        static bool keeps_last() { return false; }

        batch held;
    };
    // Holds odd ones for as long as it can.
    struct hoarder {
        std::optional<batch> accumulate(part x) {
            if (x.position % 2 == 0) return batch{x};
            held.push_back(x);
            return std::nullopt;
        }
        std::optional<batch> flush() {
            if (held.empty()) return std::nullopt;
            return std::exchange(held, {});
        }
        batch held;
    };

    std::mt19937_64 random_;
};

// How a run goes, and what is taken.
enum class ending { items, batches, acts };
struct training {
    const plan* p;
    ending end;
    std::size_t batch_size;
    std::mt19937_64 random;
    bag taken;
    std::string refusal;

    // What `then` makes of the pipeline up to the parts.
    template <class Then>
    auto with_source(weir::shard mine, const std::optional<checkpoint>& from, Then then) const {
        const auto draws = [&] {
            const weir::sampler_options how{.size = p->size,
                                            .draws = p->draws,
                                            .seed = 5,
                                            .shuffle = p->shuffle,
                                            .shard = mine,
                                            .tail = p->tail,
                                            .resume = from};
            return weir::source(weir::draws(weir::sampler(how), p->epochs));
        };
        const auto parts = weir::pipe([](const weir::draw& d) { return part(d); });
        const auto first = weir::pipe([](const auto& row) { return part(std::get<0>(row)); });
        const auto order = static_cast<weir::merge_order>(p->size % 5);
        switch (p->from) {
            case origin::sampler:
                return then(draws() | parts);
            case origin::weighted: {
                const std::vector<double> weights(p->size, 1.5);
                const weir::weighted_sampler drawn(
                    weights, {.draws = p->draws, .seed = 5, .shard = mine, .tail = p->tail, .resume = from});
                return then(weir::source(weir::draws(drawn, p->epochs)) | parts);
            }
            case origin::merged:
                return then(weir::merge({.order = order}, draws()) | parts);
            case origin::chosen:
                return then(weir::merge({.rule = [](const auto& open) { return open.front(); }}, draws()) |
                            parts);
            case origin::zipped:
                return then(weir::zip(draws()) | first);
            case origin::cached:
                return then(draws() | parts | weir::cache(2, {.name = "kept"}));
            case origin::two:
                return then(weir::merge({.order = order}, draws(), draws()) | parts);
            case origin::zipped_with_two:
                return then(weir::zip(draws(), draws()) | first);
            default:
                return then(weir::merge({.order = order}, draws() | parts,
                                        weir::source(weir::epochs(batch(3), p->epochs))));
        }
    }

    template <class Item>
    void book(const Item& got) {
        if constexpr (requires { got.position; }) {
            if (!got.padded) ++taken[got];
        } else {
            for (const part& x : got) book(x);
        }
    }
    // Up to `most`, in one of the ways to take them.
    template <class Run>
    void take(Run& run, weir::virtual_time& time, std::uint64_t most) {
        if (most == 0) return;
        switch (random() % 6) {
            case 0:
                while (auto got = weir::sync_wait(time, run.next())) {
                    book(*got);
                    if (--most == 0) return;
                }
                return;
            case 1:
                for (auto& got : run) {
                    book(got);
                    if (--most == 0) return;
                }
                return;
            case 2:
                for (auto& epoch : run.epochs()) {
                    for (auto& got : epoch) {
                        book(got);
                        if (--most == 0) return;
                    }
                }
                return;
            case 3:
                while (!run.ended()) {
                    const auto got = run.get_in_epoch();
                    if (!got) continue;
                    book(*got);
                    if (--most == 0) return;
                }
                return;
            case 4:
                while (true) {
                    const auto got = run.get(duration(10));
                    if (got.status() == weir::channel_status::closed) return;
                    if (!got) continue;
                    book(*got);
                    if (--most == 0) return;
                }
            default:
                while (auto got = run.get()) {
                    book(*got);
                    if (--most == 0) return;
                }
        }
    }
    template <class Run>
    void disturb(Run& run, weir::virtual_time& time) {
        for (const std::string& name : p->pipes) {
            if (random() % 2 == 0) run.set_concurrency(name, 1 + random() % 4);
        }
        if (random() % 2 == 0) run.pause();
        time.run_until(time.now() + duration(random() % 100));
        run.resume();
    }
    template <class Run>
    void consume(Run& run, weir::virtual_time& time, std::uint64_t most) {
        try {
            if (most > 1 && random() % 4 == 0) {
                const std::uint64_t some = 1 + random() % (most == UINT64_MAX ? 5 : most - 1);
                take(run, time, some);
                disturb(run, time);
                if (most != UINT64_MAX) most -= some;
            }
            take(run, time, most);
            if (random() % 2 == 0) time.run_until(time.now() + duration(random() % 100));
        } catch (const weir::pipeline_failure&) {
            if (!*p->for_once) throw;
        }
    }
    template <class Run>
    std::optional<checkpoint> cut(Run& run) {
        if (random() % 3 == 0) run.stop();
        try {
            const checkpoint saved = run.checkpoint();
            if (saved != run.checkpoint())
                throw std::runtime_error("the same moment, and another checkpoint");
            return checkpoint::from_bytes(saved.to_bytes());
        } catch (const std::logic_error& why) {
            refusal = why.what();
            return std::nullopt;
        }
    }
    // Up to `most` items or batches; the checkpoint then, if there is one.
    std::optional<checkpoint> run(std::optional<checkpoint> from, std::uint64_t most, weir::shard mine = {}) {
        weir::virtual_time time(random() % 1000);
        const std::size_t queue = 1 + random() % 3;
        if (end == ending::items) {
            auto run = with_source(mine, from, [&](auto parts) {
                return (std::move(parts) | p->row | weir::sink(queue)).start(time);
            });
            consume(run, time, most);
            return cut(run);
        }
        if (end == ending::batches) {
            auto run = with_source(mine, from, [&](auto parts) {
                return (std::move(parts) | p->row | weir::aggregate(batch_size) | weir::sink(queue))
                    .start(time);
            });
            consume(run, time, most);
            return cut(run);
        }
        const auto act = [this](part x) -> task<> {
            co_await weir::sleep_for(duration(x.mix(3) % 60));
            book(x);
        };
        auto run = with_source(mine, from, [&](auto parts) {
            return (std::move(parts) | p->row | weir::for_each(act, {.concurrency = queue})).start(time);
        });
        if (most == UINT64_MAX) {
            static_cast<void>(run.wait());
        } else {
            time.run_until(time.now() + duration(most * 20));
            run.stop();
        }
        return cut(run);
    }
    // The same by several ranks; none, if one of them has none.
    std::optional<checkpoint> run_ranks(const std::optional<checkpoint>& from, std::uint64_t most,
                                        std::uint32_t world) {
        std::vector<checkpoint> saved;
        for (std::uint32_t rank = 0; rank < world; ++rank) {
            if (auto one = run(from, most, weir::shard(rank, world))) saved.push_back(*std::move(one));
        }
        if (saved.size() != world) return std::nullopt;
        return checkpoint::merge(saved);
    }
};

// `may_lack`: some, or also more than the whole one does.
std::string difference(const bag& whole, const bag& got, bool others, bool may_lack) {
    std::string text;
    std::size_t num_whole = 0, num_got = 0;
    for (const auto& [x, times] : whole) num_whole += static_cast<std::size_t>(times);
    for (const auto& [x, times] : got) {
        num_got += static_cast<std::size_t>(times);
        const auto found = whole.find(x);
        const int most = found != whole.end() ? found->second : others ? 1 : 0;
        if (times <= most) continue;
        text += " part " + std::to_string(x.number) + " of draw " + std::to_string(x.position) + " " +
                std::to_string(times) + " times;";
    }
    if (may_lack) return text;
    if (num_got > num_whole) text += " too many;";
    if (num_got < num_whole) text += " " + std::to_string(num_whole - num_got) + " are missing;";
    return text;
}

// None is told of those that fail for once.
struct silence {
    weir::failure_sink before = weir::set_failure_sink(nullptr);
    silence() = default;
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;
    ~silence() { weir::set_failure_sink(before); }
};

}  // namespace

TEST_CASE("a run that is cut behind any item, and resumed, gives each item once, or has no checkpoint then") {
    // More of them: WEIR_RESUME_PIPELINES=10000.
    const char* const asked = std::getenv("WEIR_RESUME_PIPELINES");
    const std::uint64_t pipelines = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 400;
    const silence is_kept;
    std::size_t given = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= pipelines; ++seed) {
        generated make(seed);
        const plan p = make.make();
        training base{.p = &p,
                      .end = static_cast<ending>(make.pick(2)),
                      .batch_size = make.size(5),
                      .random = std::mt19937_64(seed),
                      .taken = {},
                      .refusal = {}};
        training whole = base;
        static_cast<void>(whole.run(std::nullopt, UINT64_MAX));
        const std::string about = "pipeline " + std::to_string(seed) + p.text + ", end " +
                                  std::to_string(static_cast<int>(base.end));
        // Some shapes take many items for nothing.
        const std::uint64_t most = p.grade == exact::never ? 2 : whole.taken.size();
        for (std::uint64_t k = 0; k <= most; ++k) {
            INFO(about << ", cut behind item " << k);
            training cut = base;
            cut.random.seed(seed * 100 + k);
            *p.for_once = cut.random() % 2 == 0;
            auto saved = cut.run(std::nullopt, k);
            if (p.grade == exact::always && !saved)
                FAIL(about << " has no checkpoint behind item " << k << ": " << cut.refusal);
            if (p.grade == exact::never && saved) FAIL(about << " has a checkpoint behind item " << k);
            if (!saved) {
                const std::string why = p.grade == exact::never ? p.why : torn;
                if (cut.refusal.rfind(why, 0) != 0)
                    FAIL(about << " has no checkpoint behind item " << k << ": " << cut.refusal);
                ++refused;
                *p.for_once = false;
                continue;
            }
            ++given;
            const std::uint64_t most_ranks = p.drops_rest ? 1 : 2;
            // Once more, and then to the end.
            if (k % 3 == 0) {
                training again = cut;
                const auto later =
                    again.run_ranks(saved, 1 + k % 4, static_cast<std::uint32_t>(1 + k / 3 % most_ranks));
                if (later) {
                    saved = later;
                    cut = again;
                }
            }
            *p.for_once = false;
            static_cast<void>(
                cut.run_ranks(saved, UINT64_MAX, static_cast<std::uint32_t>(1 + k % most_ranks)));
            const std::string wrong =
                difference(whole.taken, cut.taken, p.drops_rest,
                           (p.drops_rest && !p.drops_as_many) || p.tail == weir::tail::drop);
            if (!wrong.empty()) FAIL(about << ", cut behind item " << k << ":" << wrong);
        }
    }
    CHECK(given > pipelines * 3);
    CHECK(refused > pipelines / 2);
}
