#!/usr/bin/env python3
"""Has CSV and SQLite of a run read by what people read them with: Python, R, and the program sqlite3.

    tests/programs/tables/read_by_others.py PROGRAM include/weir/report/README.md

The queries are those of that page. R is asked where it is installed. Exits with 77 if sqlite3 is missing.
"""

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, "0.2"], check=True, stdout=subprocess.DEVNULL)
        table, database = str(Path(folder, "run.csv")), str(Path(folder, "run.sqlite"))
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        tasks = sum(int(r["num_tasks"]) for r in rows if r["row"] == "stage" and r["name"] == "load, 'all'")
        if tasks != 400:
            sys.exit(f"Python counts {tasks} tasks in the table")
        if shutil.which("Rscript"):
            told = output("Rscript", "-e", f"t <- read.csv('{table}'); cat(sum(t$num_tasks[t$row == 'stage' & "
                                           "t$place == 1]))")
            if told.strip() != "400":
                sys.exit(f"R counts {told} tasks in the table")
        else:
            print("R is not here, and was not asked")
        if shutil.which("sqlite3") is None:
            print("skipped: there is no sqlite3 here (Debian's package sqlite3)")
            return 77
        told = output("sqlite3", database, "SELECT sum(num_tasks) FROM stages WHERE name = 'load, ''all'''")
        if told.strip() != "400":
            sys.exit(f"sqlite3 counts {told} tasks")
        queries = re.findall(r"```sql\n(.*?)```", Path(sys.argv[2]).read_text(encoding="utf-8"), re.S)
        if len(queries) < 5:
            sys.exit("include/weir/report/README.md shows fewer than five queries")
        for query in queries:
            told = output("sqlite3", "-header", database, query)
            print(query + told)
            if told.count("\n") < 2:
                sys.exit("a query of include/weir/report/README.md gives no row")
    return 0


if __name__ == "__main__":
    sys.exit(main())
