#include <weir/measure/unit_text.hpp>

#include "support/catch.hpp"
#include "unit/report/german.hpp"

#include <chrono>
#include <limits>

using weir::duration;
using namespace std::chrono_literals;
namespace units = weir::units;

TEST_CASE("a number has exactly the decimals that are asked for") {
    CHECK(units::fixed(0, 0) == "0");
    CHECK(units::fixed(2.5, 0) == "2");  // as printf: to the even one
    CHECK(units::fixed(3.14159, 2) == "3.14");
    CHECK(units::fixed(-0.96, 1) == "-1.0");
    CHECK(units::fixed(14104.372, 2) == "14104.37");
    CHECK(units::fixed(1e300, 40).size() == 301 + 1 + 30);
    CHECK(units::fixed(2.71, -1) == "3");
    CHECK(units::fixed(std::numeric_limits<double>::infinity(), 2) == "inf");
}

TEST_CASE("text is set to the left or the right of its column, and never cut") {
    CHECK(units::left("ab", 4) == "ab  ");
    CHECK(units::right("ab", 4) == "  ab");
    CHECK(units::left("abcde", 4) == "abcde");
    CHECK(units::right("abcde", 4) == "abcde");
}

TEST_CASE("a duration gets the unit that fits") {
    CHECK(units::time(0ns) == "0");
    CHECK(units::time(1ns) == "1 ns");
    CHECK(units::time(850ns) == "850 ns");
    CHECK(units::time(999ns) == "999 ns");
    CHECK(units::time(1'000ns) == "1.0 us");
    CHECK(units::time(2'700us) == "2.7 ms");
    CHECK(units::time(27'340us) == "27.3 ms");
    CHECK(units::time(99'949us) == "99.9 ms");
    CHECK(units::time(99'950us) == "100 ms");
    CHECK(units::time(273'400us) == "273 ms");
    CHECK(units::time(999'499us) == "999 ms");
    CHECK(units::time(999'500us) == "1.0 s");
    CHECK(units::time(12s) == "12.0 s");
    CHECK(units::time(1'050s) == "17.5 min");
    CHECK(units::time(17h) == "17.0 h");
    CHECK(units::time(-3ms) == "-3.0 ms");
    CHECK(units::time(duration::max()) == "2562048 h");
}

TEST_CASE("a rate gets the unit that fits") {
    CHECK(units::rate(0) == "0");
    CHECK(units::rate(0.0512) == "0.05 /s");
    CHECK(units::rate(0.996) == "1.0 /s");
    CHECK(units::rate(33.33) == "33.3 /s");
    CHECK(units::rate(250) == "250 /s");
    CHECK(units::rate(1'234) == "1.2 k/s");
    CHECK(units::rate(14.1e6) == "14.1 M/s");
    CHECK(units::rate(2e12) == "2000 G/s");
}

TEST_CASE("an amount of memory gets the unit that fits") {
    CHECK(units::bytes(0) == "0 B");
    CHECK(units::bytes(512) == "512 B");
    CHECK(units::bytes(999) == "999 B");
    CHECK(units::bytes(1'000) == "1.0 kB");
    CHECK(units::bytes(3'400'000) == "3.4 MB");
    CHECK(units::bytes(std::numeric_limits<std::uint64_t>::max()) == "18447 PB");
}

TEST_CASE("a count is written in full while it fits") {
    CHECK(units::count(0) == "0");
    CHECK(units::count(123'456'789) == "123456789");
    CHECK(units::count(1'234'567'890) == "1.2 G");
    CHECK(units::count(999'999, 6) == "999999");
    CHECK(units::count(1'000'000, 6) == "1.0 M");
}

TEST_CASE("a share is written in percent") {
    CHECK(units::percent(0) == "0 %");
    CHECK(units::percent(0.573) == "57.3 %");
    CHECK(units::percent(0.0004) == "0.0 %");
    CHECK(units::percent(0.9996) == "100 %");
    CHECK(units::percent(1) == "100 %");
    CHECK(units::percent(1.5) == "150 %");
    CHECK(units::whole_percent(0) == "0");
    CHECK(units::whole_percent(0.0001) == "<1");
    CHECK(units::whole_percent(0.0051) == "1");
    CHECK(units::whole_percent(0.576) == "58");
    CHECK(units::whole_percent(1) == "100");
}

TEST_CASE("a duration of a log line looks as in the documents") {
    CHECK(units::log_time(2'700us) == "   2.7 [ ms]");
    CHECK(units::log_time(4'200ns) == "   4.2 [ us]");
    CHECK(units::log_time(285'600us) == " 285.6 [ ms]");
    CHECK(units::log_time(10'200ms) == "  10.2 [sec]");
    CHECK(units::log_time(0ns) == "   0.0 [ us]");
    CHECK(units::log_time(1ns) == "   1.0 [ ns]");
    CHECK(units::log_time(99ns) == "  99.0 [ ns]");
    CHECK(units::log_time(100ns) == "   0.1 [ us]");
    CHECK(units::log_time(99'999ns) == " 100.0 [ us]");
    CHECK(units::log_time(100us) == "   0.1 [ ms]");
    CHECK(units::log_time(999'999us) == "1000.0 [ ms]");
    CHECK(units::log_time(1s) == "   1.0 [sec]");
    CHECK(units::log_time(100h) == "360000.0 [sec]");
}

TEST_CASE("a sentence has no control characters of the names in it") {
    CHECK(weir::detail::concat({"stage '", "slow\x1b[2J\n.\x7f", "' is \xC3\xBC"}) ==
          "stage 'slow?[2J?.?' is \xC3\xBC");
}

TEST_CASE("numbers read the same in a German locale") {
    const weir_test::german_locale here;
    CHECK(units::fixed(1234.5, 1) == "1234.5");
    CHECK(units::time(2'700us) == "2.7 ms");
    CHECK(units::rate(12'345) == "12.3 k/s");
    CHECK(units::bytes(1'500'000) == "1.5 MB");
    CHECK(units::count(1'234'567) == "1234567");
    CHECK(units::percent(0.573) == "57.3 %");
    CHECK(units::log_time(2'700us) == "   2.7 [ ms]");
}
