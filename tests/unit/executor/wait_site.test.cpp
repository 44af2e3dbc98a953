#include <weir/executor/wait_site.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/slot.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

class empty_site final : public weir::detail::wait_site {
  public:
    const char* contradiction() const noexcept override { return nullptr; }
    void inspect(weir::detail::site_seen&) const override {}
};

}  // namespace

TEST_CASE("no two sites have the same number, also where one takes the place of another") {
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        const empty_site one, other;
        CHECK(one.serial() != 0);
        CHECK(one.serial() != other.serial());
        CHECK(one.serial() > before);
        before = other.serial();
    }
}

using weir::detail::registry;
using weir::detail::wait_lines;
using weir::detail::wait_site;
using weir::detail::wait_words;

namespace {

wait_words slot_of(const std::string& stage, int slot, std::string at, std::string what) {
    return {"stage '" + stage + "', slot " + std::to_string(slot),
            stage,
            "a.cpp:7",
            std::move(at),
            std::move(what),
            ""};
}

}  // namespace

TEST_CASE("slots of a stage that wait alike are one line, where the first of them was added") {
    wait_lines lines;
    lines.add(slot_of("x", 0, "channel 'y' is full, 2 of 2", "to put"));
    lines.add({"a thread", "", "", "", "for rain", ": why?"});
    lines.add(slot_of("x", 1, "channel 'z' is full, 2 of 2", "to put"));
    lines.add(slot_of("x", 2, "channel 'y' is full, 2 of 2", "to put"));
    lines.add(slot_of("w", 0, "channel 'y' is full, 2 of 2", "to put"));
    CHECK(lines.text() ==
          "\n  channel 'y' is full, 2 of 2: 2 slots of stage 'x' (a.cpp:7) wait to put"
          "\n  a thread waits for rain: why?"
          "\n  channel 'z' is full, 2 of 2: stage 'x', slot 1 (a.cpp:7) waits to put"
          "\n  channel 'y' is full, 2 of 2: stage 'w', slot 0 (a.cpp:7) waits to put");
    CHECK(lines.subjects() == std::vector<std::string>{"2 slots of stage 'x'", "a thread",
                                                       "stage 'x', slot 1", "stage 'w', slot 0"});
}

TEST_CASE("waiters that fit no line are only counted if there are as many lines as allowed") {
    wait_lines lines(1);
    for (int i = 0; i < 3; ++i) {
        lines.add(slot_of("x", i, "channel 'y' is full, 2 of 2", "to put"));
        lines.add({"a thread", "", "", "", "for rain", ": why?"});
    }
    CHECK(lines.text() ==
          "\n  channel 'y' is full, 2 of 2: 3 slots of stage 'x' (a.cpp:7) wait to put\n  and 3 more");
}

TEST_CASE("waiters without a stage are counted, too, separately for threads, coroutines and reasons") {
    wait_lines lines;
    for (const char* who : {"a coroutine", "a thread", "a coroutine"})
        lines.add({who, "", "", "channel 'y' is empty, 0 of 2", "to get", ""});
    lines.add({"a coroutine", "", "", "channel 'y' is empty, 0 of 2", "to get", "; for ever"});
    CHECK(lines.text() ==
          "\n  channel 'y' is empty, 0 of 2: 2 coroutines wait to get"
          "\n  channel 'y' is empty, 0 of 2: a thread waits to get"
          "\n  channel 'y' is empty, 0 of 2: a coroutine waits to get; for ever");
    CHECK(wait_lines().text().empty());
}

// ---- of sites

namespace {

class site final : public wait_site {
  public:
    explicit site(const char* what, const char* wrong = nullptr) : what_(what), wrong_(wrong) {}
    ~site() { leave_registry(); }
    const char* contradiction() const noexcept override { return wrong_; }
    void inspect(weir::detail::site_seen& seen) const override {
        seen.waiting.push_back({1, weir::detail::wait_kind::turn, what_});
    }

  private:
    const char* what_;
    const char* wrong_;
};

}  // namespace

TEST_CASE("waiters are listed in the order in which their sites were registered") {
    registry r;
    site a("for a"), b("for b");
    r.add(b);
    r.add(a);
    CHECK(waiters_at(r) == "\n  a coroutine waits for b\n  a coroutine waits for a");
}

namespace {

// A channel at which somebody waits, so many times.
class queue final : public wait_site {
  public:
    queue(const char* name, std::size_t size, weir::detail::wait_seen who, std::size_t times = 1)
        : name_(name), size_(size), who_(who), times_(times) {}
    ~queue() { leave_registry(); }
    const char* contradiction() const noexcept override { return nullptr; }
    void inspect(weir::detail::site_seen& seen) const override {
        seen.channel = &name_;
        seen.size = size_;
        seen.capacity = 4;
        seen.waiting.assign(times_, who_);
    }

  private:
    const std::string name_;
    const std::size_t size_;
    const weir::detail::wait_seen who_;
    const std::size_t times_;
};

}  // namespace

TEST_CASE("the likely cause comes first: a function, then a full queue, then a turn, then an empty queue") {
    using weir::detail::wait_kind;
    weir::virtual_time time;
    const std::string name = "parse";
    weir::detail::slot me(name, 0, time);
    queue empty("empty", 0, {1, wait_kind::get, "to get", &me}, 3);
    queue full("full", 4, {1, wait_kind::put, "to put", &me}, 2);
    queue asks("answers", 0, {1, wait_kind::get, "to get", &me, true});
    queue tells("questions", 4, {1, wait_kind::put, "to put", &me, true});
    queue large("large", 3, {1, wait_kind::put, "to put"});
    site turn("for its turn");
    queue paused("paused", 1, {1, wait_kind::outside, "to be resumed"});
    registry r;
    for (queue* each : {&empty, &full, &asks, &tells, &large}) r.add(*each);
    r.add(turn);
    r.add(paused);
    CHECK(waiters_at(r) ==
          "\n  channel 'questions' is full, 4 of 4: stage 'parse', slot 0 waits to put"
          "\n  channel 'paused' holds 1 of 4: a coroutine waits to be resumed"
          "\n  channel 'answers' is empty, 0 of 4: stage 'parse', slot 0 waits to get"
          "\n  channel 'full' is full, 4 of 4: 2 slots of stage 'parse' wait to put"
          "\n  channel 'large' holds 3 of 4: a coroutine waits to put"
          "\n  a coroutine waits for its turn"
          "\n  channel 'empty' is empty, 0 of 4: 3 slots of stage 'parse' wait to get");
}

TEST_CASE("the first site with a contradiction is reported with its waiters") {
    registry r;
    site a("for a"), b("for b", "b is wrong"), c("for c", "c is wrong");
    CHECK(contradiction_in(r).empty());
    r.add(a);
    CHECK(contradiction_in(r).empty());
    r.add(b);
    r.add(c);
    CHECK(contradiction_in(r) == "b is wrong\n  a coroutine waits for b");
}
