#!/usr/bin/env python3
"""Kills a program that writes CSV and SQLite, many times, and looks at what is left.

    tests/programs/tables/killed.py PROGRAM

Each time at most the lap in progress may be missing, and nothing may be broken; the next run goes on in the same files.
"""

import csv
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMES = 60
ROWS = 3 + 2 + 1  # of a lap: stages, queues, the process


def laps_of_csv(path, is_cut):
    """The laps of each run, in order; what a killed run left of its last lap isn't counted."""
    runs = {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    head = rows.pop(0)
    last = {}
    for number, values in enumerate(rows):
        if len(values) != len(head):
            if is_cut and number == len(rows) - 1:
                break  # of the last run
            sys.exit(f"row {number} has {len(values)} fields instead of {len(head)}: {values}")
        row = dict(zip(head, values))
        laps = runs.setdefault(row["run"], [])
        last.setdefault((row["run"], row["lap"]), []).append(int(row["rows_left"]))
        if row["rows_left"] == "0":
            laps.append(int(row["lap"]))
    for (run, lap), left in last.items():
        if left != list(range(ROWS))[::-1] and not (is_cut and run == list(runs)[-1]):
            sys.exit(f"lap {lap} of run {run} is not whole: {left}")
    for run, laps in runs.items():
        if laps != list(range(len(laps))):
            sys.exit(f"run {run} has the laps {laps}")
    return list(runs.values())


def laps_of_sqlite(path):
    with sqlite3.connect(path) as db:
        check = db.execute("PRAGMA integrity_check").fetchall()
        if check != [("ok",)]:
            sys.exit(f"the database is broken: {check}")
        for table, each in ("stages", 3), ("queues", 2), ("laps", 1), ("json", 1):
            wrong = db.execute(f"SELECT run, lap, count(*) FROM {table} WHERE lap >= 0 GROUP BY run, lap "
                               f"HAVING count(*) != {each}").fetchall()
            if wrong:
                sys.exit(f"{table} lacks rows: {wrong}")
        return [list(range(n)) for (n,) in db.execute(
            "SELECT (SELECT count(*) FROM laps WHERE laps.run = runs.run) FROM runs ORDER BY run")]


def main():
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        table, database = Path(folder, "run.csv"), Path(folder, "run.sqlite")
        known, laps = [], 0
        for number in range(TIMES):
            with subprocess.Popen([sys.argv[1], folder, "60"], stdout=subprocess.PIPE, text=True) as program:
                program.stdout.readline()
                time.sleep(chance.uniform(0, 0.06))
                program.kill()
            of_table, of_database = laps_of_csv(table, True), laps_of_sqlite(database)
            if len(of_database) != number + 1:
                sys.exit(f"{number + 1} runs began, and the database has {len(of_database)}")
            if of_database[:number] != known:
                sys.exit("a run that was there is another one now")
            known = of_database
            # A run that was killed in its first lap is not in the table.
            in_table = len(of_table[-1]) if of_table and len(of_table[-1]) != 0 else 0
            if len(of_table) == 0 or abs(in_table - len(of_database[-1])) > 1:
                if len(of_database[-1]) > 1:
                    sys.exit(f"the table has {in_table} laps, the database {len(of_database[-1])}")
            laps += len(of_database[-1])
        subprocess.run([sys.argv[1], folder, "0.05"], check=True, stdout=subprocess.DEVNULL)
        laps_of_csv(table, False)
        with sqlite3.connect(database) as db:
            ended = db.execute("SELECT count(*) FROM runs WHERE ended").fetchone()[0]
        if ended != 1:
            sys.exit(f"{ended} runs are said to have ended")
        print(f"killed {TIMES} times, {laps} laps are there, nothing is broken")


if __name__ == "__main__":
    main()
