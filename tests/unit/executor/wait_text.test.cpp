#include <weir/executor/wait_text.hpp>

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using weir::detail::wait_lines;
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
    CHECK(lines.text(1) ==
          "\n  channel 'y' is full, 2 of 2: 2 slots of stage 'x' (a.cpp:7) wait to put\n  and 3 more");
    CHECK(lines.subjects() == std::vector<std::string>{"2 slots of stage 'x'", "a thread",
                                                       "stage 'x', slot 1", "stage 'w', slot 0"});
}

TEST_CASE("those that are no stage's are counted, too, and differ by what they are and what is behind it") {
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
