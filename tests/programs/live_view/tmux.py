#!/usr/bin/env python3
"""Drives a program with a live view in tmux, resizes it, interrupts it, and looks at the screen.

    tests/programs/live_view/tmux.py PROGRAM

Leaves with 77 where there is no tmux.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import unicodedata

STAGES = ["list", "download", "d\u00e9code \u56fe?[2J", "resize", "for_each"]


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def problem(lines, columns):
    """What is wrong with a picture that is to be the only one on the screen, below what was printed."""
    heads = [i for i, line in enumerate(lines) if re.match("stage +[a-z~]", line)]
    begins = [i for i, line in enumerate(lines) if re.match(r"\d\d:\d\d  \d", line)]
    if len(heads) != 1 or len(begins) != 1:
        return f"{len(heads)} pictures"
    printed = [re.fullmatch(r"item (\d+)", line) for line in lines[:begins[0]]]
    if None in printed:
        return "something is left above it"
    numbers = [int(it[1]) for it in printed]
    if numbers != list(range(numbers[0], numbers[-1] + 1, 200) if numbers else []):
        return "what was printed isn't there"
    verdict = lines[begins[0] + 1:heads[0]]
    if len(verdict) > 3:
        return "the verdict has too many lines"
    picture = lines[begins[0]:begins[0] + 1] + lines[heads[0]:]
    if columns > 50 and width(picture[1]) != min(columns - 1, 121):  # a bar takes 60 at most
        return "it was drawn for another size"
    for name, line in zip(STAGES, picture[2:]):
        if not line.startswith(name[:6]):
            return f"no line of {name}"
    if len(picture) != len(STAGES) + 3 or not picture[-1].startswith("# run"):
        return "the legend isn't the last line"
    if any(width(line) >= columns for line in picture + verdict):
        return "a line is too long"
    return None


class Screen:
    def __init__(self, columns, rows, command):
        self.server = f"weir{os.getpid()}at{columns}"
        self.tmux("new-session", "-d", "-s", "it", "-x", str(columns), "-y", str(rows), command)

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-u", "-L", self.server, "-f", "/dev/null", *arguments], check=True,
                              encoding="utf-8", stdout=subprocess.PIPE, timeout=20).stdout

    def lines(self):
        return self.tmux("capture-pane", "-p", "-t", "it").rstrip("\n").split("\n")

    def wait_for(self, what, why_not, seconds=15):
        end = time.monotonic() + seconds
        while why := why_not(lines := self.lines()):
            if time.monotonic() > end:
                sys.exit("\n".join([*lines, f"{what}: {why}"]))
            time.sleep(0.05)
        modes = self.tmux("display-message", "-p", "-t", "it", "#{cursor_flag} #{alternate_on} #{wrap_flag}")
        if modes.strip() != "1 0 1":
            sys.exit(f"{what}: the cursor is hidden, the screen another, or lines don't wrap: {modes}")
        print(f"{what}:", *lines, sep="\n")
        return lines

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], check=False, stderr=subprocess.DEVNULL)


def resized(program):
    screen = Screen(80, 24, f"TERM=screen {program} 7; echo is over; sleep 30")
    try:
        for columns, rows in (80, 24), (200, 50), (60, 20), (80, 24):
            screen.tmux("resize-window", "-t", "it", "-x", str(columns), "-y", str(rows))
            screen.wait_for(f"at {columns}x{rows}", lambda lines, c=columns: problem(lines, c))
            time.sleep(0.7)
            screen.wait_for("later", lambda lines, c=columns: problem(lines, c), 0.5)
        lines = screen.wait_for("at the end", lambda lines: None if "is over" in lines else "it goes on")
        picture = lines[:lines.index("is over")]
        if why := problem(picture, 80):
            sys.exit(f"at the end: {why}")
        if not any(line.endswith("done  failed 28") for line in picture):
            sys.exit("at the end it isn't done")
    finally:
        screen.close()


def interrupted(program):
    # The shell gets the signal, too, and ignores it; the program does not.
    screen = Screen(40, 12, f"trap : INT; TERM=screen {program} 30; echo; echo is over; sleep 30")
    try:
        screen.wait_for("at 40x12", lambda lines: problem(lines, 40) or
                        (None if any("~~" in line for line in lines) else "no bar yet"))
        screen.tmux("send-keys", "-t", "it", "C-c")
        lines = screen.wait_for("interrupted", lambda lines: None if "is over" in lines else "it goes on")
        if why := problem(lines[:lines.index("is over") - 1], 40):
            sys.exit(f"interrupted: {why}")
    finally:
        screen.close()


def main():
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux here (Debian's package tmux)")
        return 77
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.pop("NO_COLOR", None)
    resized(sys.argv[1])
    interrupted(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
