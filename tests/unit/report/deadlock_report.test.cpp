#include <weir/report/deadlock_report.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

using weir::deadlock_report;
using weir::stall_report;
using weir::stuck_wait;
using namespace std::chrono_literals;

namespace {

stuck_wait wait_of(std::string who, std::string stage = {}) {
    stuck_wait w;
    w.who = std::move(who);
    w.stage = std::move(stage);
    w.what = "for rain";
    return w;
}

stuck_wait at_channel(std::string at, const char* what, std::string stage, std::size_t slot) {
    stuck_wait w = wait_of("stage '" + stage + "', slot " + std::to_string(slot), stage);
    w.at = std::move(at);
    w.what = what;
    return w;
}

}  // namespace

TEST_CASE("a deadlock report has a line for each waiter that says who could end the wait") {
    deadlock_report r;
    r.partial = true;
    for (const char* who : {"a", "b", "c", "d", "e"}) r.waits.push_back(wait_of(who));
    r.waits[0].needs = {1};
    r.waits[1].needs = {0, 2};
    r.waits[2].needs = {0, 1, 3, 4};
    r.waits[3].by_anyone = true;
    CHECK(r.text() ==
          "weir: deadlock: these waits can't end any more, though others go on:"
          "\n  a waits for rain; that needs b, which waits itself"
          "\n  b waits for rain; that needs a or c, which wait themselves"
          "\n  c waits for rain; that needs a or b or d or 1 more, which wait themselves"
          "\n  d waits for rain; nobody is left who could end that"
          "\n  e waits for rain; those who could end that have ended");
}

TEST_CASE("slots of one stage that wait for the same thing are one line with their number") {
    deadlock_report r;
    for (std::size_t i = 0; i < 16; ++i) {
        r.waits.push_back(at_channel("channel 'again' is full, 64 of 64", "to put", "twice", i));
        r.waits.back().where = "loader.cpp:42";
        r.waits.back().by_anyone = true;
    }
    r.waits.push_back(at_channel("channel 'next' is empty, 0 of 2", "to get", "twice", 16));
    r.waits.back().by_anyone = true;
    for (std::size_t i = 0; i < 2; ++i) {
        r.waits.push_back(at_channel("channel 'next' is full, 2 of 2", "to put", "next", i));
        r.waits.back().needs = {0, 1, 15};  // three slots of one stage are one stage
    }
    CHECK(
        r.text() ==
        "weir: deadlock: these waits can't end any more:"
        "\n  channel 'again' is full, 64 of 64: 16 slots of stage 'twice' (loader.cpp:42) wait to put; "
        "nobody is left to get"
        "\n  channel 'next' is empty, 0 of 2: stage 'twice', slot 16 waits to get; nobody is left to put"
        "\n  channel 'next' is full, 2 of 2: 2 slots of stage 'next' wait to put; that needs stage 'twice', "
        "which waits itself");
}

TEST_CASE("a long deadlock report prints only its first lines") {
    deadlock_report r;
    const auto add = [&r] { r.waits.push_back(wait_of("waiter " + std::to_string(r.waits.size()))); };
    while (r.waits.size() < deadlock_report::max_lines) add();
    CHECK(r.text().find("\n  and") == std::string::npos);
    add();
    add();
    const std::string text = r.text();
    CHECK(text.find("\n  waiter 50") == std::string::npos);
    CHECK(text.substr(text.rfind('\n')) == "\n  and 2 more");
}

TEST_CASE("a report of one wait uses the singular") {
    deadlock_report r;
    r.waits.push_back(wait_of("a"));
    CHECK(r.text().find("weir: deadlock: this wait can't end any more:\n") == 0);
}

TEST_CASE("a stall says how many workers are held, for how long, and by what") {
    stall_report r;
    r.held = 120'900us;
    r.workers = 2;
    r.of = 4;
    CHECK(r.text() ==
          "weir: stall: 2 of a pool's 4 workers have been held for 120 ms, while coroutines wait to "
          "run. What blocks belongs on a weir::blocking_pool: .executor = &io");
    r.functions = {"stage 'x', slot 0", "stage 'y', slot 1"};
    CHECK(r.text().find(
              " wait to run; these functions run: stage 'x', slot 0; stage 'y', slot 1. What blocks") !=
          std::string::npos);
}
