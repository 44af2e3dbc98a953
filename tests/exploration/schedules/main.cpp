// Runs the scenarios, each under as many schedules as asked for.
// SPDX-License-Identifier: BSL-1.0
#include "scenarios.hpp"

#include <weir/simulation/explore.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sim = weir::simulation;
using schedules::group;
using schedules::scenario;

namespace {

const char* const usage =
    "schedules [OPTION...] [NAME...]\n"
    "  NAME            a scenario, or a group of them; without: all\n"
    "  --schedules N   of each scenario, in total (25000)\n"
    "  --strategy S    random, priorities, exhaustive, or mixed (the default): half random, half\n"
    "                  priorities; of a small scenario first all with at most two deviations\n"
    "  --seed S        of the first schedule (1)\n"
    "  --list          says which there are\n"
    "A failure says how to see it again, by WEIR_SEED or WEIR_SCHEDULE, with the scenario's NAME. A\n"
    "schedule of the exhaustive strategy has no seed: WEIR_SEED changes nothing there.\n";

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr, "schedules: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

std::uint64_t number(const char* option, const char* text) {
    if (text == nullptr) refuse(std::string(option) + " needs a value");
    const std::string_view all(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc() || end != all.data() + all.size()) {
        refuse("'" + std::string(text) + "' is no number for " + option);
    }
    return value;
}

struct options {
    std::size_t schedules = 25'000;
    std::string strategy = "mixed";
    std::uint64_t seed = 1;
    bool list = false;
    std::vector<std::string> names;
};

options parse(int count, char** words) {
    options o;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const char* const next = i + 1 < count ? words[i + 1] : nullptr;
        if (word == "--schedules") {
            o.schedules = static_cast<std::size_t>(number("--schedules", next));
            ++i;
        } else if (word == "--seed") {
            o.seed = number("--seed", next);
            ++i;
        } else if (word == "--strategy") {
            if (next == nullptr) refuse("--strategy needs a value");
            o.strategy = next;
            ++i;
        } else if (word == "--list") {
            o.list = true;
        } else if (word == "--help" || word == "-h") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (word.starts_with('-')) {
            refuse("unknown option: " + std::string(word));
        } else {
            o.names.emplace_back(word);
        }
    }
    if (o.schedules == 0) refuse("--schedules 0 shows nothing; ask for at least 1");
    if (o.strategy != "mixed" && o.strategy != "random" && o.strategy != "priorities" &&
        o.strategy != "exhaustive") {
        refuse("unknown strategy: " + o.strategy);
    }
    if (o.strategy == "exhaustive" && std::getenv("WEIR_SEED") != nullptr)
        refuse("WEIR_SEED is set, and the exhaustive strategy has no seeds; set WEIR_SCHEDULE instead");
    return o;
}

// What of one scenario was explored, counted by the scenario's own calls.
struct tally {
    std::size_t schedules = 0;
    std::size_t steps = 0;
    bool complete = false;
};

// A seed of one's own for each scenario, so that they don't all make the same first draws.
std::uint64_t seed_of(const scenario& s, std::uint64_t seed) {
    std::uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a
    for (const char c : std::string_view(s.name)) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    }
    return hash + seed;
}

tally explore(const scenario& s, const options& o) {
    tally all;
    const auto run = [&](sim::strategy how, std::size_t schedules, std::size_t deviations) {
        if (schedules == 0) return;
        std::size_t calls = 0;
        const auto counted = [&](sim::world& w) {
            ++calls;
            s.run(w);
        };
        const sim::explored done = sim::explore(counted, {.schedules = schedules,
                                                          .strategy = how,
                                                          .seed = seed_of(s, o.seed),
                                                          .deviations = deviations,
                                                          .most_steps = 10'000});
        all.schedules += calls;
        all.steps += done.steps;
        all.complete = done.complete;
    };
    constexpr auto any = static_cast<std::size_t>(-1);
    if (o.strategy == "random") {
        run(sim::strategy::random, o.schedules, any);
    } else if (o.strategy == "priorities") {
        run(sim::strategy::priorities, o.schedules, any);
    } else if (o.strategy == "exhaustive") {
        run(sim::strategy::exhaustive, o.schedules, any);
    } else {
        if (s.small) run(sim::strategy::exhaustive, o.schedules / 5, 2);
        const std::size_t rest = o.schedules - all.schedules;
        run(sim::strategy::random, rest - rest / 2, any);
        run(sim::strategy::priorities, rest / 2, any);
        all.complete = false;
    }
    return all;
}

bool is_wanted(const options& o, const group& g, const scenario& s) {
    return o.names.empty() || std::ranges::any_of(o.names, [&](const std::string& name) {
               return name == s.name || name == g.name;
           });
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
    const options o = parse(count, words);
    std::vector<group>& groups = schedules::groups();
    std::ranges::sort(groups,
                      [](const group& a, const group& b) { return std::string_view(a.name) < b.name; });
    for (const std::string& name : o.names) {
        options only = o;
        only.names = {name};
        const bool known = std::ranges::any_of(groups, [&](const group& g) {
            return std::ranges::any_of(g.scenarios, [&](const scenario& s) { return is_wanted(only, g, s); });
        });
        if (!known) refuse("there is no scenario or group '" + name + "'; --list says which there are");
    }
    // One schedule, or one seed, was asked for.
    const bool again = std::getenv("WEIR_SEED") != nullptr || std::getenv("WEIR_SCHEDULE") != nullptr;
    if (!o.list) std::printf("%-44s %12s %14s %12s\n", "scenario", "schedules", "steps", "schedules/s");
    std::size_t scenarios = 0;
    std::size_t failed = 0;
    tally sum;
    const auto begin = std::chrono::steady_clock::now();
    for (const group& g : groups) {
        for (const scenario& s : g.scenarios) {
            if (!is_wanted(o, g, s)) continue;
            ++scenarios;
            const std::string name = std::string(g.name) + " " + s.name;
            if (o.list) {
                std::printf("%s\n", name.c_str());
                continue;
            }
            const auto start = std::chrono::steady_clock::now();
            try {
                const tally done = explore(s, o);
                if (done.schedules != o.schedules && !done.complete && !again) {
                    std::printf("%-44s FAILED\nran under %zu schedules instead of %zu\n", name.c_str(),
                                done.schedules, o.schedules);
                    ++failed;
                    continue;
                }
                sum.schedules += done.schedules;
                sum.steps += done.steps;
                std::printf("%-44s %12zu %14zu %12.0f%s\n", name.c_str(), done.schedules, done.steps,
                            static_cast<double>(done.schedules) / seconds_since(start),
                            done.complete ? "  all there are" : "");
            } catch (const std::exception& e) {
                // One that doesn't end has thousands of decisions.
                std::printf("%-44s FAILED\n%.2000s\n", name.c_str(), e.what());
                ++failed;
            }
            std::fflush(stdout);
        }
    }
    if (o.list) return 0;
    std::printf("%-44s %12zu %14zu %12.0f\n", (std::to_string(scenarios) + " scenarios").c_str(),
                sum.schedules, sum.steps, static_cast<double>(sum.schedules) / seconds_since(begin));
    if (failed != 0) std::printf("%zu of %zu scenarios failed\n", failed, scenarios);
    return failed == 0 && scenarios != 0 ? 0 : 1;
}
