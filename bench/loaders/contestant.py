#!/usr/bin/env python3
"""A loader in Python: runs it, and prints its figures as a line of JSON. Called by loaders.py.

    contestant.py NAME LIBRARY FOLDER WORKERS BATCHES

NAME: threads (by hand, straight into the places of batches), torch (DataLoader) or spdl. LIBRARY has loaders_decode. Exits
with 77 if what NAME needs is not installed.
"""

import ctypes
import json
import os
import resource
import sys
import time

SIDE, BATCH, WARM_UP = 224, 64, 4
IMAGE = 3 * SIDE * SIDE
TICKS = os.sysconf("SC_CLK_TCK")


def load(path):
    library = ctypes.CDLL(path)
    library.loaders_decode.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    return library


def processes():
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
        return [os.getpid(), *map(int, file.read().split())]


def processor_seconds():
    own = resource.getrusage(resource.RUSAGE_SELF)
    spent = own.ru_utime + own.ru_stime
    for process in processes()[1:]:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        spent += (int(fields[11]) + int(fields[12])) / TICKS
    return spent


def memory():
    """Megabytes of all processes; what they share counts once."""
    kilobytes = 0
    for process in processes():
        with open(f"/proc/{process}/smaps_rollup") as file:
            kilobytes += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return kilobytes / 1024


def drive(batches, wanted):
    taken, begin, worked, waits = 0, 0, 0, 0
    asked = time.perf_counter()
    for batch in batches:
        now = time.perf_counter()
        waits += now - asked
        if taken == WARM_UP:
            begin, worked, waits = now, processor_seconds(), 0
        taken += 1
        if taken == wanted + WARM_UP:
            break
        del batch
        asked = time.perf_counter()
    spent = time.perf_counter() - begin
    images = (taken - WARM_UP - 1) * BATCH
    print(json.dumps({"rate": images / spent, "cpu_ms": 1000 * (processor_seconds() - worked) / images,
                      "memory": memory(), "waits": waits / spent}), flush=True)
    os._exit(0)  # the threads and processes of a loader may not end by themselves


def forever(paths):
    while True:
        yield from paths


def threads(library, paths, workers):
    """By hand: a batch of memory, and a place in it for each call."""
    import queue
    import threading
    from concurrent.futures import ThreadPoolExecutor

    decode = load(library).loaders_decode
    free, ready = queue.Queue(), queue.Queue(3)
    for _ in range(6):
        free.put((ctypes.c_ubyte * (BATCH * IMAGE))())
    pool, files = ThreadPoolExecutor(workers), forever(paths)
    begun = queue.Queue()

    def feed():
        while True:
            batch = free.get()
            first = ctypes.addressof(batch)
            begun.put((batch, [pool.submit(decode, next(files).encode(), first + i * IMAGE) for i in range(BATCH)]))

    def collect():
        while True:
            batch, calls = begun.get()
            if any(call.result() for call in calls):
                os._exit(1)
            ready.put(batch)

    for each in (feed, collect):
        threading.Thread(target=each, daemon=True).start()
    while True:
        batch = ready.get()
        yield batch
        free.put(batch)


def torch(library, paths, workers):
    import numpy
    import torch as lib
    from torch.utils.data import DataLoader, Dataset

    class Photos(Dataset):
        decode = None

        def __len__(self):
            return 10**9

        def __getitem__(self, i):
            self.decode = self.decode or load(library).loaders_decode
            image = numpy.empty((SIDE, SIDE, 3), numpy.uint8)
            if self.decode(paths[i % len(paths)].encode(), image.ctypes.data):
                raise RuntimeError(paths[i % len(paths)])
            return lib.from_numpy(image)

    lib.set_num_threads(1)
    return DataLoader(Photos(), batch_size=BATCH, num_workers=workers, sampler=range(10**9))


def spdl(library, paths, workers):
    import numpy
    from spdl.pipeline import PipelineBuilder

    call = load(library).loaders_decode

    def decode(path):
        image = numpy.empty((SIDE, SIDE, 3), numpy.uint8)
        if call(path.encode(), image.ctypes.data):
            raise RuntimeError(path)
        return image

    pipeline = (PipelineBuilder().add_source(forever(paths)).pipe(decode, concurrency=workers).aggregate(BATCH)
                .pipe(numpy.stack, concurrency=2).add_sink(3).build(num_threads=workers + 2))
    with pipeline.auto_stop():
        yield from pipeline.get_iterator()


def main():
    name, library, folder, workers, wanted = sys.argv[1:]
    paths = sorted(os.path.join(folder, each) for each in os.listdir(folder))
    try:
        batches = {"threads": threads, "torch": torch, "spdl": spdl}[name](library, paths, int(workers))
        drive(batches, int(wanted))
    except ImportError as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
