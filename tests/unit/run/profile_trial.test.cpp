#include <weir/run/profile_trial.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <utility>

using weir::profile_trial;
using weir::trial_end;
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
    profile_lines lines(100);
    profile_trial some;
    some.num_items = 1;
    const std::string head = lines.head();
    const std::string names = head.substr(head.find("stage"));
    for (const std::string& name : {std::string(), std::string("a\n\xc3\xa9"), std::string(100, 'x')}) {
        const std::string line = lines.line(name, some, 0);
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

TEST_CASE("a trial that is not complete says why, and the foot of the table what that means") {
    for (const auto& [end, said] : {std::pair(trial_end::time_over, "time over"),
                                    {trial_end::stuck, "stuck"},
                                    {trial_end::too_few, "too few items"},
                                    {trial_end::not_tried, "not tried"}}) {
        profile_lines lines(5);
        profile_trial t;
        t.num_items = 3;
        t.elapsed = 3s;
        const std::string before = lines.foot();
        CHECK(lines.line("a", t, 1).find(said) == std::string::npos);
        CHECK(lines.foot() == before);
        t.end = end;
        const std::string line = lines.line("a", t, 1);
        CHECK(line.ends_with(std::string("  ") + said + "\n"));
        CHECK((line.find("1.0 /s       1.0") != std::string::npos) == (end == trial_end::time_over));
        CHECK(lines.foot().starts_with(before + said + ": "));
    }
    CHECK(profile_lines(5).line("a", profile_trial(), 0).ends_with("  no item\n"));
}
