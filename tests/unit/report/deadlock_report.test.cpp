#include <weir/report/deadlock_report.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>

using weir::deadlock_report;
using weir::stall_report;
using weir::stuck_wait;
using namespace std::chrono_literals;

namespace {

stuck_wait wait_of(std::string who) {
    stuck_wait w;
    w.who = std::move(who);
    w.what = "waits";
    return w;
}

}  // namespace

TEST_CASE("a report has a line for each wait, with who could end it") {
    deadlock_report r;
    r.partial = true;
    for (const char* who : {"a", "b", "c", "d", "e"}) r.waits.push_back(wait_of(who));
    r.waits[0].needs = {1};
    r.waits[1].needs = {0, 2};
    r.waits[2].needs = {0, 1, 3, 4};
    r.waits[3].by_anyone = true;
    CHECK(r.text() ==
          "weir: deadlock: these waits can't end any more, though others go on:"
          "\n  a waits: that needs b, which waits itself"
          "\n  b waits: that needs a or c, which all wait themselves"
          "\n  c waits: that needs a or b or d or 1 more, which all wait themselves"
          "\n  d waits: nobody is left who could do something about that"
          "\n  e waits: those who could do something about that have ended");
}

TEST_CASE("of very many waits only the first ones are printed") {
    deadlock_report r;
    r.waits.assign(deadlock_report::max_lines, wait_of("a"));
    CHECK(r.text().find("\n  and") == std::string::npos);
    r.waits.push_back(wait_of("b"));
    r.waits.push_back(wait_of("c"));
    const std::string text = r.text();
    CHECK(text.find("\n  b") == std::string::npos);
    CHECK(text.substr(text.rfind('\n')) == "\n  and 2 more");
}

TEST_CASE("one wait alone is called one") {
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
