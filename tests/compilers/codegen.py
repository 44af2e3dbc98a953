#!/usr/bin/env python3
"""Checks on the generated code that a program does not pay for what it does not use.

    tests/compilers/codegen.py COMPILER...   compiles with the given compiler and flags

First: a channel without statistics. Compiles a producer and a consumer.

Looks at every function of `channel<int, unmeasured>` and of its operations: none may read a clock (the
virtual `executor::now` included), nor name a slot, a meter, a recorder or a histogram. That the check can fail
is shown on `channel<int, measured>`, where it has to find them. A call is recognised by its offset in the table of
virtual functions, so no function of `item_type` may have the offset of `now`.

Second: headers that are included, and not used. A class whose first virtual function is not declared inline has its
table of virtual functions, and with the table all functions that they call, in each file that defines this function. In
the headers alone, that is each file. So virtual functions in .ipp files are declared with WEIR_INLINE, too.
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

UNUSED = """
#include <weir/weir.hpp>
#include <weir/insight.hpp>
#include <weir/report.hpp>
#include <weir/simulation.hpp>
#include <weir/report/sqlite.hpp>
"""
# The initialization of `foreign_executor` refers to the loop.
USED = {"weir::executor", "weir::run_loop", "weir::detail::loop_turns::loop", "weir::forked_error"}
CONTROL = "struct reported { virtual void lap(); }; inline void reported::lap() {}"

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


def tables_in(compiler, source):
    """The classes whose tables of virtual functions are compiled with a source."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "unused.cpp"
        file.write_text(source)
        command = [*compiler, "-std=c++20", "-w", "-O0", "-UWEIR_SEPARATE_COMPILATION", f"-I{INCLUDE}", "-S", "-o", "-", file]
        assembly = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = "\n".join(re.findall(r"^(_ZTV\w+):", assembly, re.MULTILINE))
    plain = subprocess.run(["c++filt"], input=names, check=True, capture_output=True, text=True).stdout
    return {line.removeprefix("vtable for ") for line in plain.splitlines() if line}


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
    tables = tables_in(compiler, UNUSED) - USED
    for name in sorted(tables):
        print(f"unused, but compiled: {name}; declare its virtual functions of .ipp files with WEIR_INLINE")
    is_blind = tables_in(compiler, CONTROL) != {"reported"}
    if is_blind:
        print("the check of unused classes found nothing in its control")
    return 1 if wrong or not control or tables or is_blind else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
