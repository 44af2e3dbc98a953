// Runs the scenarios, each under as many schedules as asked for.
// SPDX-License-Identifier: BSL-1.0
#include "scenarios.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using interleavings::group;
using interleavings::scenario;

namespace {

const char* const usage =
    "interleavings [OPTION...] [NAME...]\n"
    "  NAME            a scenario, or a group of them; without: all\n"
    "  --schedules N   of each scenario (3000)\n"
    "  --seed S        of the first schedule (1)\n"
    "  --list          says which there are\n"
    "The first schedule that fails ends the program, and says how to see it again, by WEIR_SEED and the\n"
    "scenario's NAME.\n";

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr, "interleavings: %s\n%s", what.c_str(), usage);
    std::exit(2);
}

std::uint64_t number(const char* option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        refuse("'" + std::string(text) + "' is no number for " + option);
    }
    return value;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
    interleavings::options how;
    bool list = false;
    std::vector<std::string> names;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--schedules" || word == "--seed") {
            if (++i == count) refuse(std::string(word) + " needs a value");
            (word == "--seed" ? how.seed : how.schedules) = number(words[i - 1], words[i]);
        } else if (word == "--list") {
            list = true;
        } else if (word == "--help" || word == "-h") {
            std::fputs(usage, stdout);
            return 0;
        } else if (word.starts_with('-')) {
            refuse("unknown option: " + std::string(word));
        } else {
            names.emplace_back(word);
        }
    }
    if (how.schedules == 0) refuse("--schedules 0 shows nothing; ask for at least 1");
    if (const char* const seed = std::getenv("WEIR_SEED")) {
        const std::string_view text = seed;
        const std::size_t colon = text.find(':');
        if (colon == text.npos)
            refuse("WEIR_SEED is what a failure said: two numbers with a colon between them");
        how.seed = number("WEIR_SEED", text.substr(0, colon));
        how.length = number("WEIR_SEED", text.substr(colon + 1));
    }
    std::vector<group>& groups = interleavings::groups();
    std::ranges::sort(groups,
                      [](const group& a, const group& b) { return std::string_view(a.name) < b.name; });
    std::vector<std::pair<const group*, const scenario*>> wanted;
    for (const group& g : groups) {
        for (const scenario& s : g.scenarios) {
            if (names.empty() || std::ranges::count(names, s.name) + std::ranges::count(names, g.name) != 0) {
                wanted.emplace_back(&g, &s);
            }
        }
    }
    if (wanted.empty()) refuse("there is no such scenario or group; --list says which there are");
    if (how.length != 0 && wanted.size() != 1) refuse("WEIR_SEED is of one scenario: name it");
    if (!list) {
        std::printf("%-44s %9s %8s %12s %12s %12s\n", "scenario", "schedules", "threads", "steps", "switches",
                    "schedules/s");
    }
    for (const auto& [g, s] : wanted) {
        const std::string name = std::string(g->name) + " " + s->name;
        if (list) {
            std::printf("%s\n", name.c_str());
            continue;
        }
        const auto begin = std::chrono::steady_clock::now();
        const interleavings::explored all = interleavings::explore(s->name, s->run, how);
        std::printf("%-44s %9llu %8d %12llu %12llu %12.0f\n", name.c_str(),
                    static_cast<unsigned long long>(all.schedules), all.threads,
                    static_cast<unsigned long long>(all.steps), static_cast<unsigned long long>(all.switches),
                    static_cast<double>(all.schedules) / seconds_since(begin));
        std::fflush(stdout);
    }
    return 0;
}
