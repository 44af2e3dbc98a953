#!/usr/bin/env python3
"""Drives a program with a live view in tmux, resizes it, and looks at the screen.

    tests/programs/live_view/tmux.py PROGRAM

Leaves with 77 where there is no tmux.
"""

import os
import shutil
import subprocess
import sys
import time

STAGES = ["list", "download", "decode", "resize", "for_each"]


def main():
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux here (Debian's package tmux)")
        return 77
    server = f"weir{os.getpid()}"

    def tmux(*arguments):
        return subprocess.run(["tmux", "-L", server, "-f", "/dev/null", *arguments], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=20).stdout

    def screen():
        return tmux("capture-pane", "-p", "-t", "it").rstrip("\n").split("\n")

    def problems(lines, columns):
        """What is wrong with a picture that is to be the only one on the screen."""
        heads = [i for i, line in enumerate(lines) if line.startswith("stage ")]
        if len(heads) != 1:
            return f"{len(heads)} pictures"
        rows = lines[heads[0] - 1:]
        if len(rows[1]) != min(columns, 116):  # a bar takes 60 at most
            return "it was drawn for another size"
        if heads[0] != 1:
            return f"{heads[0] - 1} lines are left above it"
        for name, line in zip(STAGES, rows[2:]):
            if not line.startswith(name):
                return f"no line of {name}"
        if len(rows) != len(STAGES) + 3 or not rows[-1].startswith("# run"):
            return "the legend isn't the last line"
        if any(len(line) > columns for line in rows):
            return "a line is too long"
        return None

    def wait_for(what, is_it, seconds=20):
        end = time.monotonic() + seconds
        while True:
            lines = screen()
            why = is_it(lines)
            if why is None:
                return lines
            if time.monotonic() > end:
                print("\n".join(lines))
                sys.exit(f"{what}: {why}")
            time.sleep(0.05)

    try:
        tmux("new-session", "-d", "-s", "it", "-x", "80", "-y", "24",
             f"TERM=screen {sys.argv[1]} 6; echo is over; sleep 30")
        for columns, rows in (80, 24), (200, 50), (60, 20), (80, 24):
            tmux("resize-window", "-t", "it", "-x", str(columns), "-y", str(rows))
            lines = wait_for(f"at {columns}x{rows}", lambda lines, c=columns: problems(lines, c))
            print(f"{columns}x{rows}:", *lines, sep="\n")
        lines = wait_for("at the end", lambda lines: None if "is over" in lines else "it goes on")
        picture = lines[:lines.index("is over")]
        if why := problems(picture, 80):
            print("\n".join(lines))
            sys.exit(f"at the end: {why}")
        if not picture[0].endswith("done  failed 24"):
            sys.exit(f"at the end: {picture[0]}")
    finally:
        subprocess.run(["tmux", "-L", server, "kill-server"], check=False, stderr=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
