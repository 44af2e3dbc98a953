// Reports that can't be written: the disk is full at the n-th write, with exceptions and without.
#include "support.hpp"

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/log.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <ios>
#include <new>
#include <ostream>
#include <ranges>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

// Takes so many calls, and then no more: none of the next `lost` ones. A write may be taken in part.
class full_disk final : public std::streambuf {
  public:
    full_disk(std::size_t calls, std::size_t lost, bool throws) : left_(calls), lost_(lost), throws_(throws) {
        text_.reserve(1U << 16U);  // so that what is injected doesn't fail here
    }
    const std::string& text() const noexcept { return text_; }
    bool has_failed() const noexcept { return has_failed_; }

  private:
    bool goes() {
        if (left_ > 0) {
            --left_;
            return true;
        }
        if (lost_ == 0) return true;
        --lost_;
        has_failed_ = true;
        if (throws_) throw std::runtime_error("no space left on the device");
        return false;
    }
    int_type overflow(int_type c) override {
        if (!goes()) return traits_type::eof();
        if (c != traits_type::eof()) text_ += static_cast<char>(c);
        return traits_type::not_eof(c);
    }
    std::streamsize xsputn(const char* s, std::streamsize n) override {
        if (goes()) {
            text_.append(s, static_cast<std::size_t>(n));
            return n;
        }
        text_.append(s, static_cast<std::size_t>(n / 2));
        return n / 2;
    }
    int sync() override { return goes() ? 0 : -1; }

    std::size_t left_;
    std::size_t lost_;
    bool throws_;
    bool has_failed_ = false;
    std::string text_;
};

// How the stream tells of it.
enum class way { badbit, exception_of_the_stream, exception_of_the_buffer };
constexpr way ways[] = {way::badbit, way::exception_of_the_stream, way::exception_of_the_buffer};

struct outcome {
    std::size_t got = 0;
    std::size_t told = 0;
    std::string failed_stage;
    std::string wrong;
};

// A run of ten items, of which some fail, that writes its laps and its failures.
outcome run_with(std::ostream& out) {
    outcome o;
    weir::virtual_time clock;
    weir::failure_log log(out, {.first = 2, .every = 2});
    const auto work = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(10ns);
        if (i % 2 == 1) throw std::runtime_error("odd");
        co_return i;
    };
    weir::run_options options;
    options.max_failures = weir::unlimited;
    options.lap = 25ns;
    options.on_lap = weir::log_sink(out);
    options.on_failure = [&](const weir::failure& f) {
        ++o.told;
        log(f);
    };
    auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe(work, {.name = "work"}) | weir::sink())
                   .start(clock, std::move(options));
    try {
        while (run.get()) ++o.got;
        log.summary();
        out << run.stats();
    } catch (const weir::pipeline_failure& e) {
        o.failed_stage = e.stage();
    } catch (const std::exception& e) {
        o.wrong = e.what();
    }
    return o;
}

}  // namespace

TEST_CASE("a stream that fails without exceptions hurts nothing but what is written") {
    bool has_failed = true;
    std::size_t writes = 0;
    std::string whole;
    {
        full_disk disk(1'000'000, 0, false);
        std::ostream out(&disk);
        run_with(out);
        whole = disk.text();
    }
    CHECK(whole.size() > 2'000);
    for (; has_failed; ++writes) {
        CAPTURE(writes);
        full_disk disk(writes, 1, false);
        std::ostream out(&disk);
        const outcome o = run_with(out);
        CHECK(o.got == 5);
        CHECK(o.told == 5);
        CHECK(o.failed_stage.empty());
        CHECK(o.wrong.empty());
        has_failed = disk.has_failed();
        // A stream that is bad stays so: the lines that were written stand at the front, and nothing else.
        CHECK(whole.substr(0, disk.text().size()) == disk.text());
        if (has_failed) CHECK(out.bad());
    }
    CHECK(writes > 10);
}

TEST_CASE("a stream that throws stops the run, as a failure of who wrote, and everything is told") {
    for (const way how : {way::exception_of_the_stream, way::exception_of_the_buffer}) {
        bool has_failed = true;
        for (std::size_t writes = 0; has_failed; ++writes) {
            CAPTURE(writes, static_cast<int>(how));
            full_disk disk(writes, 1'000, how == way::exception_of_the_buffer);
            std::ostream out(&disk);
            out.exceptions(std::ios::badbit | std::ios::failbit);
            const outcome o = run_with(out);
            has_failed = disk.has_failed();
            if (!has_failed) {
                CHECK(o.got == 5);
                CHECK((o.failed_stage.empty() && o.wrong.empty()));
            } else {
                // `on_lap`, or the stage whose failure was to be told of; or the consumer's own write.
                CHECK((o.failed_stage == "on_lap" || o.failed_stage == "work" || !o.wrong.empty()));
                CHECK(o.got <= 5);
            }
        }
    }
}

TEST_CASE("what was not written for a while is not forgotten by a failure log") {
    for (const way how : ways) {
        full_disk disk(1, 1, how == way::exception_of_the_buffer);
        std::ostream out(&disk);
        if (how != way::badbit) out.exceptions(std::ios::badbit);
        const weir::failure_log log(out, {.first = 1, .every = 100});
        const auto fail = [&](const char* what) {
            try {
                log(weir::failure("stage", 7, std::make_exception_ptr(std::runtime_error(what))));
            } catch (const std::exception&) {
            }
        };
        fail("first");
        fail("lost");  // the stream is bad from here on
        out.clear();
        fail("lost");
        fail("first");
        CHECK(log.count() == 4);
        log.summary();
        CHECK(disk.text().find("[stage] item 7 failed: first\n") == 0);
        CHECK(disk.text().find("2 more not shown: lost") != std::string::npos);
        CHECK(disk.text().find("1 more not shown: first") != std::string::npos);
    }
}

TEST_CASE("a failure log that lacks memory for a failure knows the next ones all the same") {
    std::size_t points = 0;
    for (bool has_fired = true; has_fired; ++points) {
        CAPTURE(points);
        full_disk disk(1'000, 0, false);
        std::ostream out(&disk);
        const weir::failure_log log(out, {.first = 1, .every = 100});
        const weir::failure f("a stage with a long name", 7,
                              std::make_exception_ptr(
                                  std::runtime_error("a message that is too long for a string")));
        faults::engine::here().plan({{faults::kind::allocation, points}});
        has_fired = false;
        try {
            const faults::armed now;
            log(f);
        } catch (const std::bad_alloc&) {
            has_fired = true;
        }
        faults::engine::here().plan({});
        const std::uint64_t before = log.count();
        CHECK(before <= 1);
        log(f);
        log(f);
        CHECK(log.count() == before + 2);
        log.summary();
        // The first one is shown, and if it could not be, no later one is in its place.
        const std::uint64_t hidden = before == 0 ? 1 : has_fired ? 3 : 2;
        CHECK(disk.text().find("] " + std::to_string(hidden) + " more not shown: a message") !=
              std::string::npos);
    }
    CHECK(points > 5);
}

TEST_CASE("a profile's bar, a table and a description leave a bad stream bad") {
    const auto pipeline =
        weir::source(std::vector<int>{1}) | weir::pipe([](int i) { return i; }) | weir::sink();
    const std::vector<std::function<void(std::ostream&)>> writers = {
        [](std::ostream& out) { weir::profile_bar{out}(weir::profile_progress{"stage", 2, 1, 3}); },
        [](std::ostream& out) { out << weir::pipeline_stats(); },
        [](std::ostream& out) { out << weir::profile_result(); },
        [&](std::ostream& out) { out << weir::describe(pipeline); },
        [&](std::ostream& out) { out << pipeline; },
    };
    for (const auto& write : writers) {
        full_disk disk(0, 1'000, false);
        std::ostream out(&disk);
        write(out);
        CHECK(out.bad());
        write(out);
        full_disk throwing(0, 1'000, true);
        std::ostream other(&throwing);
        other.exceptions(std::ios::badbit);
        CHECK_THROWS_AS(write(other), std::exception);
    }
}
