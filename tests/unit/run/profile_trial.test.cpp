#include <weir/run/profile_trial.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>

using weir::profile_trial;
using weir::detail::profile_lines;
using namespace std::chrono_literals;

TEST_CASE("a trial's rate is that of the items taken") {
    profile_trial t;
    CHECK(t.rate() == 0);
    t.num_items = 64;
    t.elapsed = 320ms;
    CHECK(t.rate() == 200);
}

TEST_CASE("the line of a trial keeps its columns whatever the stage is called") {
    const profile_lines lines(100);
    const std::string head = lines.head();
    const std::string names = head.substr(head.find("stage"));
    for (const std::string& name : {std::string(), std::string("a\n\xc3\xa9"), std::string(100, 'x')}) {
        const std::string line = lines.line(name, profile_trial(), 0);
        CHECK(line.size() == names.size());
        CHECK(line.find('\n') == line.size() - 1);
    }
    CHECK(lines.line("a\nb", profile_trial(), 0).substr(0, 4) == "a?b ");
}

TEST_CASE("shares of a trial's time are whole percent, and a little is not nothing") {
    profile_trial t;
    t.times.run = 1ms;
    t.times.await = 999ms;
    t.readiness = 0.004;
    const std::string line = profile_lines(5).line("a", t, 0);
    CHECK(line.find("  <1    100         0         0         0          0         0       <1 %") !=
          std::string::npos);
}
