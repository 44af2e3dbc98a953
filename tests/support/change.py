# SPDX-License-Identifier: BSL-1.0
"""A change of a source text that breaks it, for the lists of mutants."""
import re


class Stale(Exception):
    """The text to change isn't there exactly once."""


def change_once(code, old, new):
    """`code` with `new` where `old` is. How lines are broken and indented makes no difference: a formatter
    changes it."""
    pattern = r"\s*".join(re.escape(c) for c in re.sub(r"\s+", "", old))
    # What is indented in the list begins a line.
    if old[:1].isspace():
        pattern = r"(?<=\n)[ \t]*" + pattern
    found = list(re.finditer(pattern, code))
    if len(found) != 1:
        raise Stale(f"the text to change is there {len(found)} times, not once:\n{old}")
    begin, end = found[0].span()
    return code[:begin] + new.strip("\n") + code[end:]
