"""Kills `indicator` while it writes, and lets several of them write at once; tests/indicators/program.py starts this.

Nothing here depends on how long anything takes: wherever a kill strikes, the same has to hold afterwards.
"""

import json
import os
import signal
import sqlite3
import subprocess
import time

SIZE = 200
# After how many lines that it printed, and how many seconds more.
MOMENTS = [(0, s) for s in (0, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1)] + [
    (lines, s) for lines in (1, 2, 3, 5, 8, 12) for s in (0, 0.002, 0.005)] + [(20, 0.001)]


def ended_lines(text):
    """Without one that the kill cut."""
    return [line for line in text.split(b"\n")[:-1] if line]


def rows_in(store):
    """By another reader of the file than the program itself; all rows, by their ids."""
    file = sqlite3.connect(store)
    try:
        return file.execute("SELECT id, document, batch, place FROM indicator_results").fetchall()
    finally:
        file.close()


class Kills:
    def __init__(self, program, folder, environment, expect):
        self.program, self.folder, self.environment, self.expect = program, folder, environment, expect
        self.printed = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def begin(self, *arguments, to=subprocess.PIPE):
        return subprocess.Popen([self.program, *arguments], env=self.environment, cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.DEVNULL)

    def call(self, *arguments):
        return subprocess.run([self.program, *arguments], env=self.environment, cwd=self.folder, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def is_sound(self, store, what):
        file = sqlite3.connect(store)
        try:
            said = [row[0] for row in file.execute("PRAGMA integrity_check")]
            orphans = file.execute("SELECT count(*) FROM indicator_results WHERE status = 'accepted' AND number NOT IN"
                                   " (SELECT \"@number\" FROM indicator_of_pi_matmul)").fetchone()[0]
        finally:
            file.close()
        self.expect(said == ["ok"], f"{what}: integrity_check says {said[:3]}")
        self.expect(orphans == 0, f"{what}: {orphans} results are accepted, and have no values")

    def incomplete(self, store):
        done = self.call("query", "--json", "--store", store)
        self.expect(done.returncode == 0, f"the store opens: {done.stderr[:200]}")
        if done.returncode != 0:
            return {}
        return {one["batch"]: one for one in json.loads(done.stdout)["incomplete_batches"]}

    def kill_runs(self, good):
        store = self.path("killed.sqlite")
        for lines, more in MOMENTS:
            running = self.begin("run", "--batch", str(SIZE), "--store", store, "--quiet", "--", good)
            text = b"".join(running.stdout.readline() for _ in range(lines))
            time.sleep(more)
            running.send_signal(signal.SIGKILL)
            text += running.stdout.read()
            running.stdout.close()
            self.expect(running.wait() == -signal.SIGKILL, f"a batch of {SIZE} is killed after {lines} lines")
            self.printed += ended_lines(text)
        self.look_at_killed(store)

    def look_at_killed(self, store):
        self.is_sound(store, "after kills of run")
        rows = rows_in(store)
        documents = {row[0]: json.loads(row[1]) for row in rows}
        self.expect(len(documents) == len(rows), "an id is there twice")
        for line in self.printed:
            document = json.loads(line)
            self.expect(documents.get(document["id"]) == document,
                        f"{document['id']} was printed, and isn't in the store")
        self.expect(len(rows) - len(self.printed) <= len(MOMENTS),
                    "of each batch at most one is stored that wasn't printed")
        file = sqlite3.connect(store)
        batches = [row[0] for row in file.execute("SELECT id FROM indicator_batches")]
        file.close()
        self.expect({row[2] for row in rows} <= set(batches), "each result's batch is there")
        listed = self.incomplete(store)
        self.expect(set(listed) == set(batches), "each batch that was killed is listed as incomplete")
        for batch, one in listed.items():
            there = {row[3] for row in rows if row[2] == batch}
            self.expect(one["size"] == SIZE and one["missing"] == [i for i in range(SIZE) if i not in there],
                        f"{batch}: exactly the missing places")
            self.expect(there == set(range(len(there))), f"{batch}: what is there has no gap")
        with open(self.path("printed.jsonl"), "wb") as out:
            out.write(b"".join(line + b"\n" for line in self.printed))
        done = self.call("import", "--store", store, self.path("printed.jsonl"))
        self.expect(done.returncode == 0 and done.stdout.count(b"was there") == len(self.printed),
                    "import finds all there")
        self.expect(rows_in(store) == rows, "an import of what was printed stores nothing new")
        with open(self.path("exported.jsonl"), "wb") as out:
            out.write(self.call("export", "--store", store).stdout)
        copy = self.path("copy.sqlite")
        self.expect(self.call("import", "--store", copy, self.path("exported.jsonl")).returncode == 0, "an export is imported")
        self.expect(self.incomplete(copy) == listed, "another store knows the same gaps, also batches of which nothing is there")

    def kill_with_children(self):
        """What a program started doesn't outlive a runner that is killed."""
        parent = self.path("parent")
        with open(parent, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\nsleep 600 &\necho $! $$ >{self.path('pids.new')}\n"
                      f"mv {self.path('pids.new')} {self.path('pids')}\nwait\n")
        os.chmod(parent, 0o755)
        running = self.begin("run", "--store", self.path("orphans.sqlite"), "--quiet", "--", parent)
        while running.poll() is None and not os.path.exists(self.path("pids")):
            time.sleep(0.005)
        with open(self.path("pids"), encoding="utf-8") as text:
            pids = text.read().split()
        running.kill()
        running.communicate()
        def lives(pid):  # a zombie doesn't
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as text:
                    return ") Z" not in text.read()
            except FileNotFoundError:
                return False
        for _ in range(4000):
            if not any(map(lives, pids)):
                break
            time.sleep(0.005)
        left = [pid for pid in pids if lives(pid)]
        self.expect(not left, f"processes that outlive the runner: {left}")

    def stop_runs(self):
        """By signals that it can do something about: what ran is stored as failed."""
        slow = self.path("slow")
        with open(slow, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\ntouch {self.path('is_running')}\nexec sleep 600\n")
        os.chmod(slow, 0o755)
        store = self.path("stopped.sqlite")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            running = self.begin("run", "--batch", "4", "--store", store, "--quiet", "--", slow)
            while running.poll() is None and not os.path.exists(self.path("is_running")):
                time.sleep(0.005)
            running.send_signal(number)
            lines = ended_lines(running.communicate(timeout=60)[0])
            os.remove(self.path("is_running"))
            self.expect(running.returncode == 128 + number, f"{number}: exit status {running.returncode}")
            document = json.loads(lines[0]) if lines else {}
            self.expect(len(lines) == 1 and (document["status"], document["end"]) == ("failed", "stopped"),
                        f"{number}: {len(lines)} lines, {document.get('reasons')}")
            gap = self.incomplete(store).get(document.get("batch", {}).get("id"), {})
            self.expect(gap.get("missing") == [1, 2, 3], f"{number}: what didn't run is missing: {gap}")
        self.expect(len(rows_in(store)) == 3, "what was stopped is stored")

    def kill_imports(self, good):
        """Of 300 documents."""
        source = self.path("source.sqlite")
        self.expect(self.call("run", "--batch", "3", "--store", source, "--quiet", "--", good).returncode == 0,
                    "a batch")
        one = json.loads(self.call("export", "--store", source).stdout.splitlines()[0])
        with open(self.path("many.jsonl"), "w", encoding="utf-8") as out:
            for place in range(300):
                one["id"], one["batch"] = f"many.{place}", {"id": "many", "place": place, "size": 300}
                out.write(json.dumps(one) + "\n")
        store = self.path("imported.sqlite")
        arguments = ["import", "--store", store, self.path("many.jsonl")]
        for stored in (0, 0, 1, 7, 40, 41, 100, 170, 250):
            running = self.begin(*arguments, to=subprocess.DEVNULL)
            for _ in range(20000):
                if stored == 0 or running.poll() is not None or self.count(store) >= stored:
                    break
                time.sleep(0.001)
            running.kill()
            running.wait()
        self.expect(self.call(*arguments).returncode == 0, "the import is called again, to its end")
        self.is_sound(store, "after kills of import")
        ids = sorted(row[0] for row in rows_in(store))
        self.expect(ids == sorted(f"many.{place}" for place in range(300)), f"each is there once, not {len(ids)}")
        self.expect(self.incomplete(store) == {}, "the batch is complete")
        again = self.call(*arguments)
        self.expect(again.returncode == 0 and again.stdout.count(b"was there") == 300, "a second import stores nothing")

    def count(self, store):
        try:
            return len(rows_in(store)) if os.path.exists(store) else 0
        except sqlite3.OperationalError:  # it has no tables yet
            return 0

    def kill_at_begin(self, good):
        """While the file and its tables are made."""
        for number, seconds in enumerate((0, 0.002, 0.004, 0.006, 0.009, 0.013)):
            store = self.path(f"begun{number}.sqlite")
            running = self.begin("run", "--store", store, "--quiet", "--", good, to=subprocess.DEVNULL)
            for _ in range(5000):
                if os.path.exists(store) or running.poll() is not None:
                    break
                time.sleep(0.001)
            time.sleep(seconds)
            running.kill()
            running.wait()
            done = self.call("run", "--store", store, "--quiet", "--", good)
            self.expect(done.returncode == 0, f"a store whose making was killed takes results: {done.stderr[:200]}")
            self.is_sound(store, "after a kill while it was made")

    def write_at_once(self, good, writers):
        """Half of them run, each a batch of its own; the others import the same file."""
        store, each = self.path(f"at_once{writers}.sqlite"), 15
        lines = open(self.path("many.jsonl"), encoding="utf-8").read().splitlines()[:40]
        with open(self.path("few.jsonl"), "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        running = []
        for number in range(writers):
            if number % 2 == 0:
                running.append(self.begin("run", "--batch", str(each), "--store", store, "--quiet", "--", good))
            else:
                running.append(self.begin("import", "--store", store, self.path("few.jsonl")))
        texts = [one.communicate(timeout=120)[0] for one in running]
        self.expect(all(one.returncode == 0 for one in running),
                    f"{writers} at once: {[one.returncode for one in running]}")
        printed = [json.loads(line) for text in texts[::2] for line in ended_lines(text)]
        new = sum(text.count(b", stored") for text in texts[1::2])
        self.expect(new == 40, f"{writers} at once: {new} of 40 imports are told as stored")
        documents = {row[0]: json.loads(row[1]) for row in rows_in(store)}
        wanted = {one["id"]: one for one in [*printed, *map(json.loads, lines)]}
        self.expect(len(printed) == (writers + 1) // 2 * each, f"{writers} at once: all are printed")
        self.expect(documents == wanted, f"{writers} at once: {len(documents)} are stored, and not {len(wanted)}")
        self.is_sound(store, f"{writers} at once")


def look(program, folder, environment, expect, good):
    kills = Kills(program, folder, environment, expect)
    kills.kill_runs(good)
    kills.kill_with_children()
    kills.stop_runs()
    kills.kill_imports(good)
    kills.kill_at_begin(good)
    for writers in (2, 4):
        kills.write_at_once(good, writers)
