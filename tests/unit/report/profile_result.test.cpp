#include <weir/report/profile_result.hpp>

#include "support/catch.hpp"
#include "unit/report/german.hpp"

#include <chrono>
#include <iomanip>
#include <sstream>
#include <string>

using weir::duration;
using weir::profile_bar;
using weir::profile_result;
using weir::profile_trial;
using namespace std::chrono_literals;

namespace {

profile_trial trial(std::size_t slots, duration elapsed, duration each) {
    profile_trial t;
    t.concurrency = slots;
    t.elapsed = elapsed;
    t.num_items = t.num_results = 64;
    t.pace = weir::item_pace();
    t.pace->num_items = 60;
    t.pace->num_blocks = 15;
    t.pace->elapsed = elapsed * 60 / 64;
    t.ave_time = each;
    t.times.run = elapsed;
    t.times.await = elapsed * static_cast<std::int64_t>(slots - 1);
    t.readiness = 1;
    return t;
}

profile_result example() {
    profile_result p;
    p.num_items = 64;
    p.stages = {{"src", "source", {trial(1, 64ms, 1ms)}},
                {"decode", "pipe", {trial(4, 320ms, 20ms), trial(1, 1'280ms, 20ms)}}};
    p.stages[0].trials[0].readiness.reset();
    p.stages[1].trials[1].num_failures = 2;
    return p;
}

const std::string text_of_example = R"(each stage alone, 64 items

                                                                                          ------------------- % of the slots' time --------------------
stage   slots     items  failed      rate               95 %  speed-up        95 %       ave  run  await  runnable  wait_get  wait_put  wait_turn  overhead  readiness
src         1        64       0   1.0 k/s    1.0 k/s-1.0 k/s         -           -    1.0 ms  100      0         0         0         0          0         0          -
decode      4        64       0    200 /s      200 /s-200 /s       4.0     4.0-4.0   20.0 ms   25     75         0         0         0          0         0      100 %
            1        64       2   50.0 /s    50.0 /s-50.0 /s       1.0           -   20.0 ms  100      0         0         0         0          0         0      100 %

items: invocations; rate: of them a second, and its 95 % confidence interval; below a readiness of 100 % the stage is faster than it was fed;
speed-up: over the fewest slots; none is told where its interval holds 1; runnable: no thread was free.
)";

}  // namespace

TEST_CASE("a profile is printed as a table, a trial a line") {
    CHECK(weir::profile_text(example()) == text_of_example);
}

TEST_CASE("a profile reads the same in a German locale and whatever the stream's flags are") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::setw(500) << std::setfill('*') << example();
    CHECK(out.str() == text_of_example);
}

TEST_CASE("a profile of nothing is a heading, and one of a stage that took no item has dashes") {
    CHECK(weir::profile_text({}) == "each stage alone, 0 items\n");
    profile_result p;
    p.stages = {{"a", "pipe", {profile_trial()}}};
    CHECK(weir::profile_text(p).find("\na          1         0       0         0                  -         "
                                     "-           -         -    -      -") != std::string::npos);
}

TEST_CASE("a profile's rate is that of the items taken") {
    CHECK(trial(4, 320ms, 20ms).rate() == Catch::Approx(200));
    CHECK(profile_trial().rate() == 0);
}

TEST_CASE("a profile's bar writes over its own line, and ends it at the end") {
    std::ostringstream out;
    profile_bar bar(out);
    bar({"a long name", 4, 0, 2});
    bar({"b", 1, 1, 2});
    bar({"", 0, 2, 2});
    CHECK(out.str() ==
          "\r[..............................]  0/2  a long name, 4 slots"
          "\r[###############...............]  1/2  b, 1 slot           "
          "\r[##############################]  2/2           \n");
}

TEST_CASE("a profile's bar writes a line for each trial where it is no terminal") {
    std::ostringstream out;
    profile_bar bar(out, false);
    bar({"a", 32, 9, 10});
    bar({"", 0, 10, 10});
    CHECK(out.str() == " 9/10  a, 32 slots\n10/10\n");
}
