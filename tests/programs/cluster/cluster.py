#!/usr/bin/env python3
"""Runs the example `cluster` on some ranks: whole, with a slow rank, killed and continued, and with bad options.

    tests/programs/cluster/cluster.py PROGRAM
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = 1500


def run(program, folder, *options, files="files", **environment):
    done = subprocess.run([program, "--checkpoint", f"{folder}/checkpoint", *options, f"{folder}/{files}"],
                          capture_output=True, text=True, timeout=100, check=False, env=os.environ | environment)
    return done.returncode, done.stdout + done.stderr


def main(program):
    problems = []

    def expect(what, status, text, wanted_status, *patterns):
        for pattern in patterns:
            if (status == 0) != (wanted_status == 0) or not re.search(pattern, text):
                problems.append(f"{what}: status {status}, and no '{pattern}' in:\n{text}")

    def trained(text):
        found = re.search(r"(\d+) files with (\d+) tokens were trained on", text)
        return [int(each) for each in found.groups()] if found else [0, 0]

    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        files.mkdir()
        for i in range(FILES):
            (files / f"{i}.txt").write_text(f"file {i} " * 300, encoding="utf-8")

        status, text = run(program, folder, "-n", "3", "--train-us", "0")
        expect("three ranks", status, text, 0, f"{FILES} files with", r"\btokenize\b")
        all_tokens = trained(text)[1]

        status, text = run(program, folder, "-n", "4", "--train-us", "3000", "--slow", "2:tokenize:100")
        expect("a slow rank", status, text, 0, r"rank 2: (stage )?'?tokenize'? at work")

        # 500 files, after which there is a checkpoint, take half of the time before the kill at least, and all files
        # more than that time. On a machine that is too busy for the first 500, all again with more time.
        for scale in (1, 2, 4, 8):
            status, text = run(program, folder, "-n", "4", "--train-us", str(1500 * scale), "--kill", f"1@{1.6 * scale}")
            expect("a rank that dies", status, text, 1, ".")
            if trained(text)[0] or (Path(folder) / "checkpoint").exists():
                break
        if trained(text)[0]:
            problems.append("the rank died after the end: " + text)
        elif not (Path(folder) / "checkpoint").exists():
            problems.append("a rank died, and there is no checkpoint: " + text)
        else:
            # What was trained on behind the last checkpoint is trained on again.
            status, text = run(program, folder, "-n", "3", "--train-us", "0")
            expect("the next start", status, text, 0, "continues after")
            rest, tokens = trained(text)
            if rest % 500 or not 0 < rest < FILES or tokens >= all_tokens:
                problems.append(f"the next start trained on {rest} files with {tokens} of {all_tokens} tokens")

        # In a batch script of Slurm the program starts the ranks; in a step that srun has started it is a rank.
        for step in ({}, {"SLURM_STEP_ID": "4294967291"}):
            status, text = run(program, folder, "-n", "2", "--train-us", "0", SLURM_PROCID="0", **step)
            expect(f"two ranks of a batch script with {step}", status, text, 0, f"{FILES} files with")
        status, text = run(program, folder, "-n", "2", SLURM_PROCID="0", SLURM_STEP_ID="0")
        expect("a rank of Slurm", status, text, 1, "needs 2 ranks or more")

        slow, kill = "takes RANK:STAGE:FACTOR", "takes RANK@SECONDS"
        for options, pattern in ((["-n", "2", "--slow", "9:tokenize:2"], "there is no rank 9"),
                                 (["--slow", "1:decode:2"], slow), (["--slow", "1:read:0.5"], slow),
                                 (["--slow", "1:read:inf"], slow), (["--slow", "1:read:nan"], slow),
                                 (["--slow", "1:read:1e15"], slow), (["--kill", "1@soon"], kill),
                                 (["--kill", "1@inf"], kill), (["--kill", "1@nan"], kill), (["--kill", "1@1e30"], kill)):
            status, text = run(program, folder, *options)
            expect(" ".join(options), status, text, 1, pattern)
        status, text = run(program, folder, "-n", "2", files="nowhere")
        expect("a directory that doesn't exist", status, text, 1, "nowhere' can't be read: No such file")

    for each in problems:
        print(each)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
