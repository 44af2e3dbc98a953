#include <weir/stages/invocation_guard.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

// Writes down what it hears; breaks where it is told to.
class scribe : public weir::hook {
  public:
    scribe(std::string name, std::vector<std::string>& book, const char* breaks = "")
        : name_(std::move(name)), book_(book), breaks_(breaks) {}
    void before(const weir::invocation& call) override {
        if (call.stage() == "work") note("before");
    }
    void after(const weir::invocation& call, const std::exception_ptr& error) override {
        if (call.stage() == "work") note(error ? "after a failure" : "after");
    }

  private:
    void note(const std::string& what) {
        book_.push_back(name_ + " " + what);
        if (what == breaks_) throw std::runtime_error(name_);
    }
    std::string name_;
    std::vector<std::string>& book_;
    std::string breaks_;
};

std::vector<std::string> heard_with(const char* first_breaks, const char* second_breaks) {
    std::vector<std::string> book;
    weir::run_options options;
    options.hooks.emplace_back(std::make_shared<scribe>("first", book, first_breaks));
    options.hooks.emplace_back(std::make_shared<scribe>("second", book, second_breaks));
    options.max_failures = 10;
    virtual_time time;
    auto work = [&book](int x) {
        book.emplace_back("work");
        return x;
    };
    auto run = (weir::source({1}) | weir::pipe(work, {.name = "work"}) | weir::sink())
                   .start(time, std::move(options));
    while (run.get()) {
    }
    return book;
}

}  // namespace

TEST_CASE("hooks stand around the work, the last one nearest to it") {
    CHECK(heard_with("", "") ==
          std::vector<std::string>{"first before", "second before", "work", "second after", "first after"});
}

TEST_CASE("a hook that throws before the work leaves it out, and those before it hear of the failure") {
    CHECK(heard_with("", "before") ==
          std::vector<std::string>{"first before", "second before", "first after a failure"});
    CHECK(heard_with("before", "") == std::vector<std::string>{"first before"});
}

TEST_CASE("a hook that throws after the work fails the item for those that hear of it later") {
    CHECK(heard_with("", "after") == std::vector<std::string>{"first before", "second before", "work",
                                                              "second after", "first after a failure"});
}
