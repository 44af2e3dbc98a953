#!/usr/bin/env python3
"""An independent model of the pipelines that tests/programs/golden/README.md describes: it computes expectations.

    model.py                   writes more_60.jsonl beside this file: specs, hand-made and drawn from fixed seeds, each
                               with what has to be measured of it
    model.py --check           tells whether that file is what would be written, and whether random_24.jsonl, which
                               others made, says the same as the model, to the 2 us of that file
    model.py --draw FIRST LAST prints such specs of those seeds, without the ones that have ties, with expectations

It was written from README.md alone, and shares nothing with the library: processes are generators, all of an instant
is settled before time goes on, and each integral is taken between two changes of what it is of. Whole nanoseconds.
"""

import argparse
import collections
import heapq
import json
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "more_60.jsonl"


class Mark:
    """The end of an epoch: travels as an item does, and counts as none."""

    def __init__(self, epoch):
        self.epoch = epoch


class Queue:
    def __init__(self, world, name, capacity):
        self.world, self.name, self.capacity = world, name, capacity
        self.inside = collections.deque()
        self.putters, self.getters = collections.deque(), collections.deque()  # (process, item), process
        self.closed = False
        self.all_gets = 0  # marks, too
        self.num_put = self.num_get = self.num_discarded = 0
        self.put_wait = self.put_blocked = self.get_blocked = self.empty = 0
        self.last = 0
        self.first_get = None
        self.arrivals = None  # of a join by arrival: the last instant, and who put then
        self.changed = lambda: None  # called when there may be more room

    def settle(self):
        passed = self.world.now - self.last
        self.last = self.world.now
        self.put_wait += passed * len(self.putters)
        self.put_blocked += passed * bool(self.putters)
        self.get_blocked += passed * bool(self.getters)
        self.empty += passed * (not self.inside)

    def got(self, item):
        number = self.all_gets
        self.all_gets += 1
        if not isinstance(item, Mark):
            self.num_get += 1
            if self.first_get is None:
                self.first_get = self.world.now
        return number, item

    def put(self, process, item):
        self.settle()
        if self.closed:
            return self.world.resume(process, False)
        if self.getters:
            self.num_put += not isinstance(item, Mark)
            self.world.resume(self.getters.popleft(), self.got(item))
            return self.world.resume(process, True)
        if self.putters or len(self.inside) >= self.capacity:
            return self.putters.append((process, item))
        self.let_in(process, item)

    def let_in(self, process, item):
        self.num_put += not isinstance(item, Mark)
        self.inside.append(item)
        self.world.resume(process, True)

    def get(self, process):
        self.settle()
        if not self.inside:
            return self.world.resume(process, None) if self.closed else self.getters.append(process)
        item = self.inside.popleft()
        while self.putters and len(self.inside) < self.capacity:
            self.let_in(*self.putters.popleft())
        self.world.resume(process, self.got(item))
        self.changed()

    def let_in_early(self, item):
        """The item has had its place already, and nobody waits with it."""
        self.settle()
        self.num_put += not isinstance(item, Mark)
        if self.getters:
            self.world.resume(self.getters.popleft(), self.got(item))
        else:
            self.inside.append(item)

    def close(self, to_newcomers=False):
        """Who waits is turned away; with `to_newcomers` who waits to put is let in when there is room."""
        self.settle()
        self.closed = True
        while self.getters:
            self.world.resume(self.getters.popleft(), None)
        while self.putters and not to_newcomers:
            self.world.resume(self.putters.popleft()[0], False)
        self.changed()

    def cancel(self):
        self.close()
        self.num_discarded += sum(not isinstance(x, Mark) for x in self.inside)
        self.inside.clear()

    def figures(self):
        self.settle()
        return {"name": self.name, "num_put": self.num_put, "num_get": self.num_get,
                "num_discarded": self.num_discarded,
                "size": sum(not isinstance(x, Mark) for x in self.inside), "put_wait_ns": self.put_wait,
                "put_blocked_ns": self.put_blocked, "get_blocked_ns": self.get_blocked, "empty_ns": self.empty}


class Room:
    """Where processes wait until a rule lets them go; `rule(ticket)` says True, False (never) or None (not yet)."""

    def __init__(self, world, rule):
        self.world, self.rule, self.waiting = world, rule, []

    def enter(self, process, ticket):
        self.waiting.append((process, ticket))
        self.changed()

    def changed(self):
        for each in list(self.waiting):
            answer = self.rule(each[1])
            if answer is not None:
                self.waiting.remove(each)
                self.world.resume(each[0], answer)


class Tally:
    """Of failures: how many, and whether that is too many. A rate is judged from the hundredth invocation on."""

    def __init__(self, limit):
        self.limit, self.failures, self.all, self.last = limit, 0, 0, None

    def is_rate(self):
        return isinstance(self.limit, float)

    def is_too_many(self):
        if self.limit == "unlimited":
            return False
        if not self.is_rate():
            return self.failures > self.limit
        return self.all >= 100 and self.failures > self.limit * self.all * (1 + 1e-12)

    def failed(self, who):
        self.failures += 1
        self.all += 1
        self.last = who
        return self.is_too_many()

    def succeeded(self):
        self.all += 1
        return self.is_rate() and self.all == 100 and self.is_too_many()


class Pipe:
    def __init__(self, name):
        self.name, self.num_tasks, self.num_failures, self.busy, self.active, self.last = name, 0, 0, 0, 0, 0
        self.ended, self.num_ended, self.stopped = -1, 0, -1

    def change(self, world, by):
        self.busy += (world.now - self.last) * self.active
        self.last = world.now
        self.active += by

    def figures(self, world):
        self.change(world, 0)
        return {"name": self.name, "num_tasks": self.num_tasks, "num_failures": self.num_failures,
                "busy_ns": self.busy}


class World:
    def __init__(self, spec):
        self.spec, self.now, self.sleepers, self.sequence = spec, 0, [], 0
        self.ready = collections.deque()
        self.queues, self.pipes, self.at_work = [], [], 0
        self.failure = None
        self.tally = Tally(spec.get("max_failures", 0))
        self.free = spec.get("workers")
        self.requests, self.work_changed = [], False
        self.ended_at = self.all_left_at = None
        self.has_ties = False
        ends = []
        if "merge" in spec:
            merge = spec["merge"]
            for given in merge["inputs"]:
                ends.append(self.stages(self.source(given), given.get("stages", [])))
            last = self.fan_in(merge.get("name", "merge"), ends, merge.get("order", "arrival"),
                               merge.get("weights", [1] * len(ends)))
        else:
            last = self.source(spec)
        last = self.stages(last, spec.get("stages", []))
        self.out = self.queue("sink", spec.get("sink_capacity", 3))
        self.start(self.sink(last, self.out), counts=False)
        self.start(self.foreground(self.out), counts=False)

    # ---- the machinery

    def queue(self, name, capacity=2):
        self.queues.append(Queue(self, name, capacity))
        return self.queues[-1]

    def start(self, process, counts=True):
        self.at_work += counts
        self.resume(process, None)

    def leaves(self):
        self.at_work -= 1
        if self.at_work == 0:
            self.all_left_at = self.now

    def resume(self, process, value):
        self.ready.append((process, value))

    def step(self, process, value):
        try:
            asks, *of = process.send(value)
        except StopIteration:
            return
        if asks == "sleep":
            self.sequence += 1
            heapq.heappush(self.sleepers, (self.now + of[0], self.sequence, process))
        elif asks == "put":
            of[0].put(process, of[1])
            self.look_for_ties(process, of[0])
        elif asks == "get":
            of[0].get(process)
        elif asks == "turn":
            of[0].enter(process, of[1])
        elif asks == "processor":
            self.requests.append((self.now, -of[0], of[1], process))
            self.work_changed = True

    def look_for_ties(self, process, queue):
        """Of several inputs of a join by arrival that come in one instant, of which one waits: who is first?"""
        if queue.arrivals is None:
            return
        if queue.arrivals[0] != self.now:
            queue.arrivals = (self.now, set())
        queue.arrivals[1].add(id(process))
        if len(queue.arrivals[1]) > 1 and queue.putters:
            self.has_ties = True

    def give_processors(self):
        """When nothing else happens in this instant: the earliest, the one nearest to the sink, the first item."""
        self.work_changed = False
        self.requests.sort(key=lambda r: r[:3])
        while self.free and self.requests:
            self.free -= 1
            self.resume(self.requests.pop(0)[3], None)

    def run(self):
        lap = self.spec.get("lap_ns")
        end = self.spec.get("snapshot_ns")
        laps, before, next_lap = [], None, lap
        while not self.stands_still(end):
            while self.ready:
                self.step(*self.ready.popleft())
            if self.work_changed:
                self.give_processors()
                continue
            if self.stands_still(end):
                break
            assert self.sleepers or end is not None, "nothing can go on"
            to = self.sleepers[0][0] if self.sleepers else end
            while lap and next_lap <= to and (end is None or next_lap < end) and self.all_left_at is None:
                self.now = next_lap
                now = self.snapshot()
                laps.append(difference(now, before))
                before, next_lap = now, next_lap + lap
            if end is not None and to >= end:
                self.now = end
                break
            self.now = to
            while self.sleepers and self.sleepers[0][0] == to:
                self.resume(heapq.heappop(self.sleepers)[2], None)
        result = self.snapshot()
        if end is None:
            result["window_ns"] = self.now
            result["queues"] = by_name(result["queues"])
        result["first_item_ns"] = self.out.first_get
        if self.failure is not None and self.ended_at is not None:
            result["failed"] = {"stage": self.failure[0], "item": self.failure[1]}
        if lap:
            result["laps"] = laps
        return result

    def stands_still(self, end):
        """The consumer has seen the end; with a snapshot to come, of a run of which nobody is at work any more."""
        return self.ended_at is not None and (end is None or self.at_work == 0)

    def snapshot(self):
        return {"consumed": self.out.num_get, "queues": [q.figures() for q in self.queues],
                "stages": [p.figures(self) for p in self.pipes]}

    # ---- what there is in a pipeline; each builds itself, and returns the queue behind it

    def source(self, given):
        out = self.queue(given.get("name", "src") if "merge" in self.spec else "src")

        def work():
            for epoch in range(self.spec.get("epochs", 1)):
                left = given.get("items")
                while left is None or left > 0:
                    left = None if left is None else left - 1
                    if not (yield "put", out, 0):
                        return
                if "epochs" in self.spec and not (yield "put", out, Mark(epoch)):
                    return

        def whole():
            yield from work()
            self.leaves()
            out.close()

        self.start(whole())
        return out

    def stages(self, queue, stages):
        for stage in stages:
            queue = getattr(self, stage["op"])(queue, stage)
        return queue

    def pipe(self, source, s):
        out = self.queue(s.get("name", "pipe"))
        me = Pipe(s.get("name", "pipe"))
        rank = len(self.pipes)
        self.pipes.append(me)
        tally = Tally(s["max_failures"]) if "max_failures" in s else self.tally
        in_order = s.get("output_order") == "input"
        has_turns = in_order or "epochs" in self.spec
        slots = s.get("concurrency", 1)
        state = {"left": 0, "epoch": 0, "slots": slots, "blocked": None}
        early = {}  # by their numbers: items in their places in `out`, or None if they leave none

        def may_leave(ticket):
            """Also says "early": there is a place for it, in which it waits for its turn without its slot."""
            number, epoch, is_mark, has_item = ticket
            blocked = state["blocked"]
            if in_order:
                if blocked is not None and number > blocked[0]:
                    return False
                if number == state["left"]:
                    return True
                if out.closed:
                    return False if has_item else "early"
                return "early" if number - state["left"] + len(out.inside) < out.capacity else None
            if (number == state["left"]) if is_mark else (epoch == state["epoch"]):
                return True
            if blocked is not None and (epoch >= blocked[1] if is_mark else epoch > blocked[1]):
                return False
            return None

        turns = Room(self, may_leave)
        if in_order:
            out.changed = turns.changed

        def block(end):
            was = state["blocked"]
            state["blocked"] = end if was is None else (min(was[0], end[0]), min(was[1], end[1]))
            turns.changed()

        def fails(k):
            return k in s.get("fails", []) or ("fails_every" in s and k % s["fails_every"] == s["fails_every"] - 1)

        def invoke(k):
            """Gives whether it succeeded."""
            me.change(self, +1)
            if s.get("computes"):
                yield "processor", rank, k
            time = s["service_ns"][k % len(s["service_ns"])]
            if time:
                yield "sleep", time
            if s.get("computes"):
                self.free += 1
                self.work_changed = True
            me.change(self, -1)
            me.num_tasks += 1
            me.num_failures += fails(k)
            # Of several that end in one instant, of which one stops the run: who is first?
            if self.now == me.ended:
                me.num_ended += 1
                self.has_ties = self.has_ties or me.stopped == self.now
            else:
                me.ended, me.num_ended = self.now, 1
            return not fails(k)

        def slot():
            """Gives the number and the epoch of the item behind which nothing is to leave any more; or nothing."""
            while (came := (yield "get", source)) is not None:
                number, item = came
                is_mark = isinstance(item, Mark)
                epoch = item.epoch if is_mark else source.epoch_of(number)
                k = number - (epoch if "epochs" in self.spec else 0)
                is_last = False
                if not is_mark:
                    if (yield from invoke(k)):
                        if tally.succeeded():
                            self.failure = self.failure or tally.last
                            is_last = True
                    else:
                        item = None
                        if tally.failed((me.name, k)):
                            self.failure = self.failure or (me.name, k)
                            me.stopped = self.now
                            self.has_ties = self.has_ties or me.num_ended > 1
                            return number, epoch
                if in_order and is_last:
                    block((number, epoch))
                answer = has_turns and (yield "turn", turns, (number, epoch, is_mark, item is not None))
                if has_turns and not answer:
                    return number, epoch
                if answer == "early" and number != state["left"]:  # else its turn came within this instant
                    early[number] = item
                    if is_last:
                        return number, epoch
                    continue
                if item is not None and not (yield "put", out, item):
                    return number, epoch
                if is_last:
                    return number, epoch
                state["left"] += 1
                if is_mark:
                    state["epoch"] = epoch + 1
                while state["left"] in early and not (state["blocked"] and state["left"] > state["blocked"][0]):
                    waited = early.pop(state["left"])
                    state["left"] += 1
                    if waited is not None:
                        out.let_in_early(waited)
                turns.changed()
            return None

        def whole():
            end = yield from slot()
            if end is not None:
                block(end)
            source.cancel()
            state["slots"] -= 1
            self.leaves()
            if state["slots"] == 0:
                out.close()

        # In which epoch an item is follows from how many marks were got before it.
        marks = []

        def epoch_of(number):
            return sum(m < number for m in marks)

        source.epoch_of = epoch_of
        plain = source.got

        def got(item):
            number, item = plain(item)
            if isinstance(item, Mark):
                marks.append(number)
            return number, item

        source.got = got
        for _ in range(slots):
            self.start(whole())
        return out

    def single(self, source, out, work):
        """A stage of one slot, which does `work` for each item; that gives False to end it."""
        outs = out if isinstance(out, list) else [out]

        def whole():
            while (came := (yield "get", source)) is not None:
                if not (yield from work(came[1])):
                    break
            else:
                yield from work(None)
            source.cancel()
            self.leaves()
            for each in outs:
                each.close()

        self.start(whole())
        return out

    def aggregate(self, source, s):
        out, gathered = self.queue(s.get("name", "aggregate")), []

        def work(item):
            is_end = item is None or isinstance(item, Mark)
            if not is_end:
                gathered.append(item)
            if gathered and (not s.get("drop_last", False) if is_end else len(gathered) == s["size"]):
                if not (yield "put", out, list(gathered)):
                    return False
                gathered.clear()
            if is_end:
                gathered.clear()
            return True if not isinstance(item, Mark) else (yield "put", out, item)

        return self.single(source, out, work)

    def disaggregate(self, source, s):
        out = self.queue(s.get("name", "disaggregate"))

        def work(item):
            for each in [] if item is None else [item] if isinstance(item, Mark) else item:
                if not (yield "put", out, each):
                    return False
            return True

        return self.single(source, out, work)

    def route(self, source, s):
        name = s.get("name", "route")
        begins = [self.queue(b.get("name", "branch " + str(i))) for i, b in enumerate(s["branches"])]
        count = iter(range(sys.maxsize))

        def work(item):
            if item is None:
                return True
            for each in begins if isinstance(item, Mark) else [begins[s["to"][next(count) % len(s["to"])]]]:
                if not (yield "put", each, item):
                    return False
            return True

        self.single(source, begins, work)
        ends = [self.stages(begin, b.get("stages", [])) for begin, b in zip(begins, s["branches"])]
        return self.fan_in(name + "_join", ends, "arrival", None)

    def fan_in(self, name, sources, order, weights):
        out = self.queue(name)
        out.arrivals = (-1, set()) if order == "arrival" else None
        has = ["nothing"] * len(sources)
        credit = [0.0] * len(sources)
        state = {"turn": None, "busy": False, "next": 0, "epoch": 0, "broken": False, "shut": False,
                 "gave": (-1, 0), "slots": len(sources)}
        gone = set()  # who has no turn any more in this epoch

        def choose():
            """Whose turn is next: of those that aren't gone."""
            left = [i for i in range(len(sources)) if i not in gone]
            state["turn"] = None
            if not left or order in ("arrival", "priority"):
                return
            if order == "round_robin":
                state["turn"] = min(left, key=lambda i: (i - state["next"]) % len(sources))
                state["next"] = state["turn"] + 1
                return
            those = [i for i in left if weights[i] > 0]
            shares = {i: weights[i] for i in those} or {i: 1 for i in left}
            for i, share in shares.items():
                credit[i] += share
            state["turn"] = max(shares, key=lambda i: (credit[i], -i))
            credit[state["turn"]] -= sum(shares.values())

        def settle():
            while state["turn"] is not None and has[state["turn"]] in ("mark", "end"):
                gone.add(state["turn"])
                credit[:] = [0.0] * len(sources)
                choose()

        def may_give(ticket):
            i, item = ticket
            if state["shut"]:
                return False
            if isinstance(item, Mark):
                if item.epoch < state["epoch"] or state["broken"]:
                    return False
                if state["busy"] or not all(h in ("mark", "end") for h in has):
                    return None
            elif order == "priority":
                if state["busy"] or "item" in has[:i]:
                    return None
            elif order != "arrival" and (state["busy"] or state["turn"] != i):
                return None
            state["busy"], state["gave"] = True, (self.now, i)
            return True

        room = Room(self, may_give)
        choose()

        def slot(i):
            while (came := (yield "get", sources[i])) is not None:
                item = came[1]
                has[i] = "mark" if isinstance(item, Mark) else "item"
                if order == "priority" and state["gave"][0] == self.now and state["gave"][1] > i:
                    self.has_ties = True  # had it come a moment before, it would have gone first
                settle()
                room.changed()
                if not (yield "turn", room, (i, item)):
                    if state["broken"] or state["shut"]:
                        return
                    continue  # another input's mark went for all
                if not (yield "put", out, item):
                    state["shut"] = True  # nobody wants any more: that ends the other inputs, too
                    return
                state["busy"] = False
                if isinstance(item, Mark):
                    state["epoch"] = item.epoch + 1
                    has[:] = ["nothing" if h == "mark" else h for h in has]
                    gone.clear()
                    state["next"] = 0
                    choose()
                else:
                    has[i] = "item" if sources[i].inside else "nothing"
                    if state["turn"] == i:
                        choose()
                settle()
                room.changed()

        def whole(i):
            yield from slot(i)
            sources[i].cancel()
            has[i] = "end"
            state["broken"] = state["broken"] or self.failure is not None
            settle()
            room.changed()
            for other in sources:
                if state["shut"]:
                    other.cancel()
                elif self.failure is not None:
                    other.close(to_newcomers=True)
            state["slots"] -= 1
            self.leaves()
            if state["slots"] == 0:
                out.close()

        for i in range(len(sources)):
            self.start(whole(i))
        return out

    def sink(self, source, out):
        while (came := (yield "get", source)) is not None:
            yield "put", out, came[1]
        out.close()

    def foreground(self, source):
        times, k = self.spec["foreground_ns"], 0
        while (came := (yield "get", source)) is not None:
            if isinstance(came[1], Mark):
                continue
            if times[k % len(times)]:
                yield "sleep", times[k % len(times)]
            k += 1
        self.ended_at = self.now


def difference(now, before):
    """What a lap has: counts and times of its own, sizes and names as they are at its end."""
    if before is None:
        return now
    if isinstance(now, dict):
        return {key: value if key in ("name", "size") else difference(value, before[key])
                for key, value in now.items()}
    if isinstance(now, list):
        return [difference(a, b) for a, b in zip(now, before)]
    return now - before


def by_name(queues):
    """Of several of one name the second is `name#2`."""
    named, times = {}, collections.Counter()
    for q in queues:
        times[q["name"]] += 1
        n = times[q["name"]]
        named[q["name"] + ("" if n == 1 else "#" + str(n))] = q
    return named


def expectation(spec):
    return World(spec).run()


def has_ties(spec):
    """Whether something in it depends on which of two things of one instant is first, which nobody promises.

    Of runs that a failure stops not all such things are found.
    """
    world = World(spec)
    world.run()
    return world.has_ties


# ---- the specs

MS = 1_000_000


def hand_made():
    def pipe(*ms, **more):
        return {"op": "pipe", "service_ns": [int(t * MS) for t in ms], **more}

    def spec(name, stages, foreground=1, **more):
        return {"name": name, "stages": stages, "foreground_ns": [int(foreground * MS)], **more}

    two = [{"name": "a", "items": 5, "stages": [pipe(3)]}, {"name": "b", "items": 5, "stages": [pipe(7)]}]
    return [
        spec("in the order of the input the slow item holds back those that are done",
             [pipe(40, 1, 1, 1, concurrency=2, output_order="input")], items=8),
        spec("as they are done the slow item holds back nobody", [pipe(40, 1, 1, 1, concurrency=2)], items=8),
        spec("two items fail, and two may", [pipe(5, fails=[1, 3], max_failures=2)], items=6),
        spec("two items fail, and one may", [pipe(2, name="before"), pipe(5, fails=[1, 3])], items=9,
             max_failures=1),
        spec("every third fails, and any number may",
             [pipe(5, fails_every=3, max_failures="unlimited", concurrency=2, output_order="input")], items=10),
        spec("a rate is judged by the hundredth invocation, which succeeds",
             [pipe(1, fails_every=3, max_failures=0.3)], foreground=0.3, items=130),
        spec("a rate that is kept", [pipe(1, fails_every=5, max_failures=0.2)], foreground=0.3, items=130),
        spec("an input after the other in turns, whoever is slow",
             [], merge={"order": "round_robin", "inputs": two}),
        spec("by weights three to one", [], merge={"order": "weighted", "weights": [3, 1], "inputs": two}),
        spec("the first input goes first", [], foreground=4, merge={"order": "priority", "inputs": two}),
        spec("as they come", [], merge={"inputs": two}),
        spec("two branches, of which one is slow",
             [pipe(1), {"op": "route", "to": [0, 0, 1], "branches": [
                 {"name": "fast", "stages": [pipe(2)]}, {"name": "slow", "stages": [pipe(11)]}]}],
             foreground=1.7, items=12),
        spec("batches end with their epoch", [pipe(3), {"op": "aggregate", "size": 2}], items=3, epochs=3),
        spec("slots wait for the end of an epoch",
             [pipe(3, 9.7, 4, concurrency=3)], items=4, epochs=3, lap_ns=10 * MS),
        spec("laps of a model that loads", [pipe(200, *[5] * 999)], items=60, lap_ns=50 * MS),
        spec("one processor for two stages",
             [pipe(3, computes=True), pipe(4, computes=True, concurrency=2)], items=5, workers=1),
        spec("two processors, and a stage that needs none",
             [pipe(3, computes=True, concurrency=2), pipe(50, concurrency=4), pipe(4, computes=True, concurrency=2)],
             items=30, workers=2, snapshot_ns=300 * MS),
    ]


def drawn(seed):
    """A spec; one of twenty has ties."""
    r = random.Random(seed)

    def times(most=7):
        return [r.randrange(100_003, 9 * MS) for _ in range(r.randrange(1, most))]

    has_epochs, has_processors = r.random() < 0.3, r.random() < 0.3
    may_stop = r.random() < 0.25

    def pipe():
        p = {"op": "pipe", "service_ns": times(), "concurrency": r.choice([1, 1, 2, 3])}
        if r.random() < 0.4:
            p["output_order"] = r.choice(["input", "completion"])
        if r.random() < 0.35:
            p.update(r.choice([{"fails_every": r.randrange(2, 9)},
                               {"fails": sorted(r.sample(range(40), r.randrange(1, 5)))}]))
            if not may_stop:
                p["max_failures"] = "unlimited"
            elif r.random() < 0.5:
                p["max_failures"] = r.choice([0, 1, 3, 0.2])
        if has_processors and r.random() < 0.6:
            p["computes"] = True
        return p

    def part(most, depth):
        stages, deep = [], 0
        for _ in range(r.randrange(1, most)):
            what = r.random()
            if what < 0.55:
                stages.append(pipe())
            elif what < 0.75:
                stages.append({"op": "aggregate", "size": r.randrange(2, 5)})
                deep += 1
            elif what < 0.85 and deep:
                stages.append({"op": "disaggregate"})
                deep -= 1
            elif depth:
                branches = [{"stages": [pipe() for _ in range(r.randrange(1, 3))]}
                            for _ in range(r.randrange(2, 4))]
                stages.append({"op": "route", "to": [r.randrange(len(branches)) for _ in range(r.randrange(2, 6))],
                               "branches": branches})
        return stages + [{"op": "disaggregate"}] * deep

    spec = {"name": "drawn " + str(seed)}
    if r.random() < 0.4:
        order = r.choice(["arrival", "round_robin", "weighted", "priority"])
        inputs = [{"items": r.randrange(15, 50), "stages": [pipe()] + part(2, 0) + [pipe()]}
                  for _ in range(r.randrange(2, 4))]
        spec["merge"] = {"order": order, "inputs": inputs}
        if order == "weighted":
            spec["merge"]["weights"] = [r.randrange(1, 5) for _ in inputs]
    else:
        spec["items"] = r.randrange(20, 80)
    if has_epochs:
        spec["epochs"] = r.randrange(2, 4)
    spec["stages"] = [pipe()] + part(5, 1)
    spec["sink_capacity"] = r.randrange(1, 6)
    spec["foreground_ns"] = times()
    if '"computes"' in json.dumps(spec):
        spec["workers"] = r.randrange(1, 4)
    if may_stop and r.random() < 0.5:
        spec["max_failures"] = r.choice([1, 2, 5])
    if r.random() < 0.5:
        spec["lap_ns"] = r.randrange(70 * MS, 200 * MS)
    if r.random() < 0.4:
        spec["snapshot_ns"] = r.randrange(50 * MS, 300 * MS)
    return spec


def line(spec):
    return json.dumps({"spec": spec, "expect": expectation(spec)}, separators=(",", ":")) + "\n"


def lines():
    specs = hand_made()
    seed = 0
    while len(specs) < 60:
        spec = drawn(seed)
        seed += 1
        if not has_ties(spec):
            specs.append(spec)
    return "".join(line(spec) for spec in specs)


def is_near(expected, got, is_time=False):
    if isinstance(expected, dict):
        return all(is_near(value, got[key], key.endswith("_ns")) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(got) and all(is_near(a, b) for a, b in zip(expected, got))
    return abs(expected - got) <= 2000 if is_time else expected == got


def check():
    if FILE.read_text(encoding="utf-8") != lines():
        sys.exit(f"{FILE.name} is not what {Path(__file__).name} would write")
    for number, text in enumerate((HERE / "random_24.jsonl").read_text(encoding="utf-8").splitlines(), 1):
        both = json.loads(text)
        if not is_near(both["expect"], expectation(both["spec"])):
            sys.exit(f"random_24.jsonl:{number}: the model says something else")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--draw", nargs=2, type=int, metavar=("FIRST", "LAST"))
    asked = parser.parse_args()
    if asked.check:
        check()
    elif asked.draw:
        for spec in map(drawn, range(asked.draw[0], asked.draw[1] + 1)):
            if not has_ties(spec):
                sys.stdout.write(line(spec))
    else:
        FILE.write_text(lines(), encoding="utf-8")


if __name__ == "__main__":
    main()
