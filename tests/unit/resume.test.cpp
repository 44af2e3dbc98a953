// Random pipelines of a sampler's draws, cut behind each item and resumed: wherever a checkpoint is given, the
// consumers take each item exactly once, before the cut or after it.
#include <weir/run/progress_keeper.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/disaggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/for_each.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/stages/take.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
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

    part() = default;
    part(std::uint64_t of, std::uint64_t which) : position(of), number(which) {}
    auto operator<=>(const part&) const = default;

    std::uint64_t mix(std::uint64_t salt) const {
        return (position * 31 + number * 17 + salt) * 2654435761U >> 7U;
    }
};
using batch = std::vector<part>;
using bag = std::map<part, int>;  // how often each was taken
using stages = weir::stage_list<part, weir::policies<weir::measured>>;

enum class exact {
    always,  // a checkpoint is given at every item
    at_times,
    never
};
struct plan {
    stages row;
    exact grade = exact::always;
    bool drops_rest = false;  // which items are dropped depends on the order
    std::string text;         // for the message
};

class generated {
  public:
    explicit generated(std::uint64_t seed) : random_(seed) {}

    std::uint64_t pick(std::uint64_t most) { return random_() % (most + 1); }
    std::size_t size(std::uint64_t most) { return static_cast<std::size_t>(1 + pick(most - 1)); }

    plan make() {
        plan p;
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
        const std::uint64_t kind = pick(19);
        p.text += " " + std::to_string(kind);
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
                break;
            case 3: {
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
                            co_yield part(x.position, 4 * x.number + i);
                    },
                    free));
                lower(p, exact::at_times);
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
                                            all.emplace_back(x.position, 3 * x.number + i);
                                    }
                                    std::ranges::sort(all);
                                    return all;
                                },
                                o) |
                            weir::disaggregate());
                lower(p, exact::at_times);
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
                        p.row.add(weir::take(5));
                        break;
                    case 1:
                        p.row.add(weir::skip(2));
                        break;
                    default:
                        add_row(p, place, weir::aggregate(hoarder()) | weir::disaggregate());
                }
                lower(p, exact::never);
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
    std::uint64_t size, epochs;
    ending end;
    std::size_t batch_size;
    std::mt19937_64 random;
    bag taken;
    std::size_t refused = 0;

    auto source(weir::shard mine, const std::optional<checkpoint>& from) {
        return weir::source(
                   weir::draws(weir::sampler({.size = size, .seed = 5, .shard = mine, .resume = from}),
                               epochs)) |
               weir::pipe([](weir::draw d) { return part(d.position, 1); }) | p->row;
    }
    template <class Run>
    void take(Run& run, weir::virtual_time& time, std::uint64_t most) {
        for (; most > 0; --most) {
            auto got = run.get();
            if (!got) return;
            if constexpr (requires { got->position; }) {
                ++taken[*got];
            } else {
                for (const part& x : *got) ++taken[x];
            }
        }
        if (random() % 2 == 0) time.run_until(time.now() + duration(random() % 100));
    }
    template <class Run>
    std::optional<checkpoint> cut(Run& run) {
        if (random() % 3 == 0) run.stop();
        try {
            const checkpoint saved = run.checkpoint();
            if (saved != run.checkpoint())
                throw std::runtime_error("the same moment, and another checkpoint");
            return checkpoint::from_bytes(saved.to_bytes());
        } catch (const std::logic_error&) {
            ++refused;
            return std::nullopt;
        }
    }
    // Up to `most` items or batches; the checkpoint then, if there is one.
    std::optional<checkpoint> run(std::optional<checkpoint> from, std::uint64_t most, weir::shard mine = {}) {
        weir::virtual_time time(random() % 1000);
        const std::size_t queue = 1 + random() % 3;
        if (end == ending::items) {
            auto run = (source(mine, from) | weir::sink(queue)).start(time);
            take(run, time, most);
            return cut(run);
        }
        if (end == ending::batches) {
            auto run = (source(mine, from) | weir::aggregate(batch_size) | weir::sink(queue)).start(time);
            take(run, time, most);
            return cut(run);
        }
        const auto act = [this](part x) -> task<> {
            co_await weir::sleep_for(duration(x.mix(3) % 60));
            ++taken[x];
        };
        auto run = (source(mine, from) | weir::for_each(act, {.concurrency = queue})).start(time);
        if (most == UINT64_MAX) {
            static_cast<void>(run.wait());
        } else {
            time.run_until(time.now() + duration(most * 20));
            run.stop();
        }
        return cut(run);
    }
};

std::string difference(const bag& whole, const bag& got, bool drops_rest) {
    std::string text;
    std::size_t num_whole = 0, num_got = 0;
    for (const auto& [x, times] : whole) num_whole += static_cast<std::size_t>(times);
    for (const auto& [x, times] : got) {
        num_got += static_cast<std::size_t>(times);
        const auto found = whole.find(x);
        const int most = found != whole.end() ? found->second : drops_rest ? 1 : 0;
        if (times <= most) continue;
        text += " part " + std::to_string(x.number) + " of draw " + std::to_string(x.position) + " " +
                std::to_string(times) + " times;";
    }
    if (num_got > num_whole && !drops_rest) text += " too many;";
    if (num_got < num_whole && !drops_rest)
        text += " " + std::to_string(num_whole - num_got) + " are missing;";
    return text;
}

}  // namespace

TEST_CASE("a run that is cut behind any item, and resumed, gives each item once, or has no checkpoint then") {
    // More of them: WEIR_RESUME_PIPELINES=10000.
    const char* const asked = std::getenv("WEIR_RESUME_PIPELINES");
    const std::uint64_t pipelines = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 150;
    std::size_t given = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= pipelines; ++seed) {
        generated make(seed);
        const plan p = make.make();
        training base{.p = &p,
                      .size = 3 + make.pick(7),
                      .epochs = 1 + make.pick(1),
                      .end = static_cast<ending>(make.pick(2)),
                      .batch_size = make.size(5),
                      .random = std::mt19937_64(seed),
                      .taken = {},
                      .refused = 0};
        training whole = base;
        static_cast<void>(whole.run(std::nullopt, UINT64_MAX));
        const std::string about = "pipeline " + std::to_string(seed) + " of kinds" + p.text + ", end " +
                                  std::to_string(static_cast<int>(base.end));
        for (std::uint64_t k = 0; k <= whole.taken.size(); ++k) {
            INFO(about << ", cut behind item " << k);
            training cut = base;
            cut.random.seed(seed * 100 + k);
            auto saved = cut.run(std::nullopt, k);
            if (p.grade == exact::always && !saved) FAIL(about << " has no checkpoint behind item " << k);
            if (p.grade == exact::never && saved) FAIL(about << " has a checkpoint behind item " << k);
            if (!saved) {
                ++refused;
                continue;
            }
            ++given;
            // Once more, and then by so many ranks.
            if (k % 3 == 0) {
                training again = cut;
                const auto later = again.run(saved, 1 + k % 4);
                if (later) {
                    saved = later;
                    cut = again;
                }
            }
            const std::uint32_t world = base.end == ending::batches || p.drops_rest ? 1U : 1U + k % 2;
            for (std::uint32_t rank = 0; rank < world; ++rank) {
                static_cast<void>(cut.run(saved, UINT64_MAX, weir::shard(rank, world)));
            }
            const std::string wrong = difference(whole.taken, cut.taken, p.drops_rest);
            if (!wrong.empty()) FAIL(about << ", cut behind item " << k << ":" << wrong);
        }
    }
    CHECK(given > pipelines * 3);
    CHECK(refused > pipelines / 2);
}
