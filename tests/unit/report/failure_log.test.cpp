#include <weir/report/failure_log.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using weir::failure;
using weir::failure_log;

namespace {

template <class Error = std::runtime_error>
failure failed(const std::string& stage, std::uint64_t item, const std::string& message) {
    return failure(stage, item, std::make_exception_ptr(Error(message)));
}

std::size_t lines_of(const std::ostringstream& out) {
    const std::string text = out.str();
    std::size_t n = 0;
    for (const char c : text) n += c == '\n' ? 1U : 0U;
    return n;
}

}  // namespace

TEST_CASE("a failure log writes stage, item and message, in one line") {
    std::ostringstream out;
    const failure_log log(out);
    log(failed("read", 17, "no such file"));
    log(failed("parse", 3, "line 1\nline 2\r\nline 3"));
    log(failure("odd", 0, std::make_exception_ptr(7)));
    CHECK(out.str() ==
          "[read] item 17 failed: no such file\n"
          "[parse] item 3 failed: line 1 line 2  line 3\n"
          "[odd] item 0 failed: 7 (thrown as int)\n");
    CHECK(log.count() == 3);
}

TEST_CASE("of failures that are alike only the first ones are written, then every hundredth") {
    std::ostringstream out;
    const failure_log log(out);
    for (std::uint64_t n = 0; n < 1000; ++n) log(failed("read", n, "no such file"));
    CHECK(out.str() ==
          "[read] item 0 failed: no such file\n"
          "[read] item 1 failed: no such file\n"
          "[read] item 2 failed: no such file\n"
          "[read] item 3 failed: no such file\n"
          "[read] item 4 failed: no such file\n"
          "[read] item 104 failed: no such file (failure 105 of this kind, 99 not shown)\n"
          "[read] item 204 failed: no such file (failure 205 of this kind, 99 not shown)\n"
          "[read] item 304 failed: no such file (failure 305 of this kind, 99 not shown)\n"
          "[read] item 404 failed: no such file (failure 405 of this kind, 99 not shown)\n"
          "[read] item 504 failed: no such file (failure 505 of this kind, 99 not shown)\n"
          "[read] item 604 failed: no such file (failure 605 of this kind, 99 not shown)\n"
          "[read] item 704 failed: no such file (failure 705 of this kind, 99 not shown)\n"
          "[read] item 804 failed: no such file (failure 805 of this kind, 99 not shown)\n"
          "[read] item 904 failed: no such file (failure 905 of this kind, 99 not shown)\n");
    out.str({});
    log.summary();
    CHECK(out.str() == "[read] 95 more not shown: no such file\n");
    out.str({});
    log.summary();
    CHECK(out.str().empty());
    CHECK(log.count() == 1000);
}

TEST_CASE("failures differ by stage, by message and by the type of the exception") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1});
    for (std::uint64_t n = 0; n < 3; ++n) {
        log(failed("a", n, "x"));
        log(failed("b", n, "x"));
        log(failed("a", n, "y"));
        log(failed<std::logic_error>("a", n, "x"));
    }
    CHECK(out.str() ==
          "[a] item 0 failed: x\n[b] item 0 failed: x\n[a] item 0 failed: y\n[a] item 0 failed: x\n");
    out.str({});
    log.summary();
    CHECK(out.str() ==
          "[a] 2 more not shown: x\n[b] 2 more not shown: x\n[a] 2 more not shown: y\n[a] 2 more not shown: "
          "x\n");
}

TEST_CASE("how many are written can be set") {
    std::ostringstream out;
    const failure_log none(out, {.first = 0, .every = 4});
    for (std::uint64_t n = 0; n < 10; ++n) none(failed("a", n, "x"));
    CHECK(out.str() ==
          "[a] item 3 failed: x (failure 4 of this kind, 3 not shown)\n"
          "[a] item 7 failed: x (failure 8 of this kind, 3 not shown)\n");
    out.str({});
    const failure_log all(out, {.first = 1, .every = 1});
    all(failed("a", 0, "x"));
    all(failed("a", 1, "x"));
    CHECK(out.str() == "[a] item 0 failed: x\n[a] item 1 failed: x (failure 2 of this kind)\n");
    CHECK_THROWS_AS(failure_log(out, {.every = 0}), std::invalid_argument);
}

TEST_CASE("a failure log remembers so many kinds; the others count as one") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1, .every = 100, .most_kinds = 10});
    for (std::uint64_t n = 0; n < 200; ++n) log(failed("a", n, "file " + std::to_string(n)));
    CHECK(lines_of(out) == 10 + 1 + 1);
    CHECK(items::contains(out.str(),
                          "[a] item 110 failed: file 110 (failure 101 of this kind, 99 not shown)\n"));
    log.summary();
    CHECK(items::contains(out.str(), "[other] 89 more not shown: failures of other kinds\n"));
    CHECK(log.count() == 200);
}

TEST_CASE("a message of any length is written, and a bounded part of it is remembered") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1});
    const std::string text(5000, 'x');
    log(failed("a", 0, text));
    log(failed("a", 1, text + "y"));
    CHECK(out.str() == "[a] item 0 failed: " + text + "\n");
    log.summary();
    CHECK(out.str().size() < 6000);
}

TEST_CASE("a failure log is told by a run, also by several threads") {
    std::ostringstream out;
    const failure_log log(out);
    weir::virtual_time time;
    const auto breaks = [](int n) {
        if (n % 2 == 0) throw std::runtime_error("even");
        return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(breaks, {.name = "p"}) | weir::sink())
                   .start(time, {.max_failures = weir::unlimited, .on_failure = log});
    CHECK(items::take_all(run).size() == 50);
    CHECK(log.count() == 50);
    CHECK(lines_of(out) == 5);

    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&log] {
            for (std::uint64_t n = 0; n < 500; ++n) log(failed("t", n, "odd"));
        });
    }
    for (std::thread& t : threads) t.join();
    CHECK(log.count() == 2050);
    CHECK(lines_of(out) == 5 + 5 + 19);
    log.summary();
    CHECK(items::contains(out.str(), "[t] 95 more not shown: odd\n"));
}
