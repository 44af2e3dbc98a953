// graphs [--graphs N] [--seed S] [--first K] [FILE...]: graphs of pipelines made from bytes, each run in the
// simulator, on a real pool, and as a plain program; the three have to agree. The bytes are random, or those of
// the files. Built with -fsanitize=fuzzer and WEIR_LIBFUZZER it is a fuzzer's target instead.
#include "support/graphs.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace graphs;

namespace {

using bytes = std::span<const std::uint8_t>;
using policies = weir::policies<weir::simulation::stepwise, weir::measured>;

// Numbers out of bytes; when those are at an end, always the least.
class picker {
  public:
    explicit picker(bytes from) : left_(from) {}
    int operator()(int least, int most) {
        const auto range = static_cast<unsigned>(most - least) + 1;
        unsigned value = next();
        if (range > 256) value = value * 256 + next();
        return least + static_cast<int>(value % range);
    }

  private:
    unsigned next() noexcept {
        if (left_.empty()) return 0;
        const unsigned value = left_.front();
        left_ = left_.subspan(1);
        return value;
    }
    bytes left_;
};

struct tally {
    std::uint64_t graphs = 0, items = 0, stopped = 0, refused = 0, failures = 0, changes = 0;
};

[[noreturn]] void complain(const char* where, const std::string& what) {
    throw std::runtime_error(std::string(where) + ": " + what);
}

// Whether all of `part`, in any order, is in `whole`.
bool is_among(ints part, ints whole) {
    std::ranges::sort(part);
    std::ranges::sort(whole);
    return std::ranges::includes(whole, part);
}

struct habits {
    std::size_t leaves_after = static_cast<std::size_t>(-1);  // so many items
    std::size_t changes_every = 0;                            // so many items; 0: never
    bool changes_slots = false;                               // too: then results may leave in another order
    std::uint64_t seed = 0;                                   // of the changes
    weir::run_options options;
};

// Changes settings of the run at random, and looks at its statistics meanwhile.
template <class Run>
class changer {
  public:
    changer(Run& run, const habits& how, bool at_one_instant, const char* where, tally& seen)
        : run_(run), how_(how), at_one_instant_(at_one_instant), where_(where), seen_(seen),
          random_(how.seed) {}

    void after_item() {
        if (how_.changes_every == 0 || ++taken_ % how_.changes_every != 0) return;
        const std::vector<std::string> stages = run_.stages();
        const std::string& stage = stages[random_() % stages.size()];
        try {
            switch (random_() % (how_.changes_slots ? 4 : 3)) {
                case 0:
                    // A sink's queue only grows: it and the queue before it are one, whose puts wait for the
                    // sum of their places, also if items beyond a lowered capacity take the places of both.
                    sink_room_ += stage == stages.back() ? 1 + random_() % 3 : 0;
                    run_.set_capacity(stage, stage == stages.back() ? sink_room_ : 1 + random_() % 8);
                    break;
                case 1:
                    run_.pause();
                    check();
                    run_.resume();
                    break;
                case 2:
                    break;
                default:
                    run_.set_concurrency(stage, 1 + random_() % 4);
            }
            ++seen_.changes;
        } catch (const std::invalid_argument&) {  // not each stage has slots or a queue that can change
            ++seen_.refused;
        }
        check();
    }

  private:
    void check() const {
        const pipeline_stats now = run_.stats();
        complaints wrong(where_);
        check_accounts(now, wrong, at_one_instant_);
        check_total(now, wrong);
        if (!wrong.text().empty()) complain(where_, "in the middle: " + wrong.text());
    }

    Run& run_;
    const habits& how_;
    bool at_one_instant_;
    const char* where_;
    tally& seen_;
    std::mt19937_64 random_;
    std::size_t taken_ = 0;
    std::size_t sink_room_ = 4;  // the most that a graph has
};

// Whether a recorded run has kept its invocations. `whole`: all items have left the run.
void check_samples(const pipeline_stats& end, std::size_t recording, bool whole, complaints& wrong) {
    for (const stage_stats& s : end.stages) {
        if (!s.samples) {
            wrong.check(recording == 0 || s.kind == "sink", s.name, "has no sample");
            continue;
        }
        const std::vector<weir::task_sample>& kept = s.samples->tasks;
        wrong.check(kept.size() <= recording, s.name, "has kept too many invocations");
        if (!whole || s.samples->one_in != 1 || s.kind == "aggregate") continue;
        wrong.check(kept.size() == s.num_tasks, s.name, "has not kept each invocation once");
        const auto failed = std::ranges::count_if(kept, &weir::task_sample::failed);
        wrong.check(static_cast<std::uint64_t>(failed) == s.num_failures, s.name, "has kept other failures");
    }
}

// Takes the items of one run and compares.
template <bool Epochs, class Run>
void compare(Run run, const expectation& expected, const habits& consumer, bool at_one_instant,
             const char* where, tally& seen) {
    lists got;
    std::size_t taken = 0;
    bool left = false;
    changer<Run> changes(run, consumer, at_one_instant, where, seen);
    const auto take = [&](int n) {
        got.back().push_back(n);
        changes.after_item();
        left = ++taken == consumer.leaves_after;
        return !left;
    };
    if constexpr (Epochs) {
        for (auto& epoch : run.epochs()) {
            got.emplace_back();
            for (const int n : epoch) {
                if (!take(n)) break;
            }
            if (left) break;
        }
    } else {
        got.emplace_back();
        for (const int n : run) {
            if (!take(n)) break;
        }
    }
    seen.items += taken;
    if (got.size() > expected.items.size()) complain(where, "there are more epochs than expected");
    if (!left && got.size() != expected.items.size()) complain(where, "there are fewer epochs than expected");
    for (std::size_t e = 0; e < got.size(); ++e) {
        const ints& all = expected.items[e];
        const bool whole = !left || e + 1 < got.size();
        if (whole ? got[e].size() != all.size() : got[e].size() > all.size()) {
            complain(where, "another number of items than expected: " + std::to_string(got[e].size()) +
                                " of " + std::to_string(all.size()));
        }
        const bool right =
            expected.ordered ? std::equal(got[e].begin(), got[e].end(), all.begin()) : is_among(got[e], all);
        if (!right) complain(where, "other items than a program without concurrency gives");
    }
    run.stop();
    const pipeline_stats end = run.stats();
    complaints wrong(where);
    check_accounts(end, wrong, at_one_instant);
    check_total(end, wrong);
    if (!left) check_end(end, expected.whole, wrong);
    check_samples(end, consumer.options.recording, !left && expected.whole, wrong);
    if (!wrong.text().empty()) complain(where, wrong.text());
    if (left) {
        ++seen.stopped;
    } else if (expected.whole) {
        std::uint64_t failures = 0;
        for (const stage_stats& stage : end.stages) failures += stage.num_failures;
        if (failures != expected.failures)
            complain(where, "another number of items has failed than expected");
        seen.failures += failures;
    }
}

weir::thread_pool& pool() {
    static weir::thread_pool p(2);
    return p;
}

template <bool Epochs>
void check(bytes from, tally& seen) {
    picker pick(from);
    const std::uint64_t seed = static_cast<std::uint64_t>(pick(0, 255)) + 1;
    habits consumer;
    if (pick(0, 3) == 0) consumer.leaves_after = static_cast<std::size_t>(pick(1, 30));
    consumer.options.max_failures = weir::unlimited;
    if (pick(0, 3) == 0) consumer.options.max_bytes = static_cast<std::size_t>(pick(1, 60));
    if (pick(0, 2) == 0) consumer.changes_every = static_cast<std::size_t>(pick(1, 5));
    consumer.seed = seed;
    consumer.options.later_stages_first = pick(0, 3) == 0;
    consumer.options.recording = seed % 2 == 0 ? 0 : static_cast<std::size_t>(seed % 64);
    const bool broken = pick(0, 30) == 0;
    random_graph<Epochs, policies, picker> graph(pick);
    graph.run([&](auto description, std::size_t capacity, const expectation& expected) {
        ++seen.graphs;
        consumer.changes_slots = !expected.ordered && expected.whole;  // a zip needs ordered inputs
        if (broken) {
            const auto pipeline = std::move(description) |
                                  weir::pipe([](int n) { return n; }, {.concurrency = 0}) |
                                  weir::sink(capacity);
            try {
                auto run = pipeline.start(pool());
                complain("pool", "a stage without slots was accepted");
            } catch (const std::invalid_argument&) {
                ++seen.refused;
            }
            return;
        }
        const auto pipeline = std::move(description) | weir::sink(capacity);
        weir::simulation::explore(
            [&](weir::simulation::world& w) {
                compare<Epochs>(pipeline.template start<weir::simulation::stepwise>(w, consumer.options),
                                expected, consumer, true, "simulator", seen);
            },
            {.schedules = 1, .seed = seed, .attempts_to_shrink = 200});
        compare<Epochs>(pipeline.start(pool(), consumer.options), expected, consumer, false, "pool", seen);
    });
}

void check(bytes from, tally& seen) {
    if (!from.empty() && from.front() % 2 == 1) {
        check<true>(from.subspan(1), seen);
    } else {
        check<false>(from.empty() ? from : from.subspan(1), seen);
    }
}

}  // namespace

#ifdef WEIR_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static tally seen;
    try {
        check(bytes(data, size), seen);
    } catch (const std::exception& e) {
        std::cerr << e.what() << std::endl;
        std::abort();
    }
    return 0;
}

#else

namespace {

std::vector<std::uint8_t> random_bytes(std::uint64_t seed, std::uint64_t number) {
    std::mt19937_64 random(seed * 1'000'003 + number);
    std::vector<std::uint8_t> all(20 + random() % 300);
    for (auto& each : all) each = static_cast<std::uint8_t>(random());
    return all;
}

std::uint64_t number_after(int& i, int argc, char** argv) {
    if (i + 1 == argc) throw std::invalid_argument(std::string(argv[i]) + " needs a number");
    return std::stoull(argv[++i]);
}

}  // namespace

int main(int argc, char** argv) try {
    std::uint64_t graphs = 1'000, seed = 1, first = 0;
    std::vector<std::string> files;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--graphs") {
            graphs = number_after(i, argc, argv);
        } else if (option == "--seed") {
            seed = number_after(i, argc, argv);
        } else if (option == "--first") {
            first = number_after(i, argc, argv);
        } else if (option.starts_with("--")) {
            throw std::invalid_argument("unknown option: " + std::string(option) +
                                        "\nusage: graphs [--graphs N] [--seed S] [--first K] [FILE...]");
        } else {
            files.emplace_back(option);
        }
    }
    tally seen;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& file : files) {
        std::ifstream in(file, std::ios::binary);
        if (!in) throw std::runtime_error("can't read " + file);
        const std::vector<std::uint8_t> all{std::istreambuf_iterator<char>(in), {}};
        check(all, seen);
    }
    if (!files.empty()) graphs = 0;
    for (std::uint64_t number = first; number < first + graphs; ++number) {
        try {
            check(random_bytes(seed, number), seen);
        } catch (const std::exception& e) {
            std::cerr << "graph " << number << ": " << e.what() << "\n  again: graphs --seed " << seed
                      << " --first " << number << " --graphs 1\n";
            return 1;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::cout << seen.graphs << " graphs in " << took.count() << " s: " << seen.items << " items, "
              << seen.failures << " failures, " << seen.stopped << " runs left early, " << seen.changes
              << " changes, " << seen.refused << " refused\n";
    const bool enough = seen.graphs >= graphs &&
                        (graphs < 1'000 || (seen.stopped > 0 && seen.refused > 0 && seen.changes > 0 &&
                                            seen.failures > 0 && seen.items > graphs));
    if (!enough) std::cerr << "too little was tried\n";
    return enough ? 0 : 1;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
}

#endif
