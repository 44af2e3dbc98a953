#!/usr/bin/env python3
"""Checks on the generated code that a channel without statistics is a channel without statistics.

    tests/compilers/codegen.py COMPILER...   compiles a producer and a consumer with the given compiler and flags

Looks at every function of `channel<int, unmeasured>` and of its operations: none may read a clock (the
virtual `executor::now` included), nor name a slot, a meter, a recorder or a histogram. That the check can fail
is shown on `channel<int, measured>`, where it has to find them. A call is recognised by its offset in the table of
virtual functions, so no function of `item_type` may have the offset of `now`.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"

SOURCE = """
#include <weir/channel/channel.hpp>
#include <weir/task/task.hpp>
using queue = weir::channel<int, weir::POLICY>;
weir::task<> produce(queue& c) {
    for (int i = 0;; ++i) {
        const bool taken = co_await c.put(int{i});
        if (!taken) break;
    }
    c.close();
}
weir::task<long> consume(queue& c) {
    long sum = 0;
    while (true) {
        const auto item = co_await c.get();
        if (!item) break;
        sum += *item;
    }
    co_return sum;
}
// The slot that `now` has in the table of an executor's virtual functions.
weir::time_point the_time(const weir::executor& ex) { return ex.now(); }
"""

# What only statistics need, as it stands in mangled names. Whose executor a channel knows (channel_clock) isn't that.
TRACES = r"(?<!channel_)clock|4slot|meter|recorder|stopwatch|histogram|3nowEv"


def functions_of(assembly):
    """The lines of each function, by its mangled name."""
    functions, name = {}, None
    for line in assembly.splitlines():
        if match := re.match(r"(_Z\w+)[\w.]*:", line):
            name = match[1]
        if name:
            functions.setdefault(name, []).append(line.strip())
    return functions


def traces_in(compiler, policy):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "channel.cpp"
        source.write_text(SOURCE.replace("POLICY", policy))
        command = [*compiler, "-std=c++20", "-w", "-O2", "-DNDEBUG", "-fno-devirtualize",
                   f"-I{INCLUDE}", "-S", "-o", "-", source]
        assembly = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    functions = functions_of(assembly)
    clock = functions["_Z8the_timeRKN4weir8executorE"]
    offset = next(m[1] for m in (re.search(r"\*(\d+)\(%", line) for line in clock) if m)
    found = []
    for name, lines in functions.items():
        # Not the coroutines: those account for the slot that they may be the work of.
        own = re.match(r"_ZN?K?4weir(6detail)?\d+(channel|put_|get_)", name)
        if not own or f"{len(policy)}{policy}" not in name:
            continue
        for line in lines:
            target = line.split("_Z", 1)[1] if "_Z" in line else ""
            # A name that holds the policy is a function of the channel, looked at on its own.
            if target and policy not in target and re.search(TRACES, target):
                found.append(f"{name}: {line}")
            if re.search(rf"(call|jmp)\w*\s+\*{offset}\(%", line):
                found.append(f"{name}: {line} (executor::now)")
    return found, len(functions)


def main(compiler):
    if not compiler:
        print(__doc__, file=sys.stderr)
        return 2
    wrong, functions = traces_in(compiler, "unmeasured")
    control, _ = traces_in(compiler, "measured")
    for line in wrong:
        print("without statistics, but:", line)
    if not control:
        print("the check found nothing where there are statistics: it is blind")
    print(f"{functions} functions; traces of statistics: {len(wrong)} without, {len(control)} with")
    return 1 if wrong or not control else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
