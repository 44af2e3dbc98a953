#!/usr/bin/env python3
"""Measures weir and loaders in Python with the same decoding function: photographs in, batches of 64 in host memory out.

    bench/run loaders [--json] [--quick] [--workers 1,2,4]

    --json     prints one JSON document at the end, instead of the table
    --quick    few batches and two rounds: shows that it works, not how fast anything is
    --workers  how many threads or processes decode, instead of 1, 2, 4, 8, 16 as there are processors

The photographs are made first: 300 of 500 x 375 pixels, decoded by libjpeg-turbo at the nearest scale, middle square of 224
pixels. The contestants take turns, seven rounds; the table has medians, and the spread of the rates. Processor time and memory
are those of all processes of a contestant. What is not installed (numpy with torch or spdl) is left out with a message.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "loaders"
CONTESTANTS = {
    "weir, batch_slots": "batch_slots",
    "weir, packed": "packed",
    "Python threads by hand": "threads",
    "PyTorch DataLoader": "torch",
    "SPDL": "spdl",
}
OF_WEIR = ("batch_slots", "packed")
PHOTOS = 300


def build():
    """The program, and the library of the decoding function. Exits with 77 without libjpeg-turbo."""
    configured = subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DWEIR_BUILD_TESTS=OFF",
                                 "-DWEIR_BUILD_EXAMPLES=OFF"], check=True, capture_output=True, text=True)
    missing = [line for line in configured.stdout.splitlines() if "loaders is left out" in line]
    if missing:
        print(missing[0].removeprefix("-- "), file=sys.stderr)
        raise SystemExit(77)
    subprocess.run(["cmake", "--build", BUILD, "--target", "bench_loaders", "bench_loaders_work"], check=True,
                   stdout=sys.stderr)
    return BUILD / "bench" / "loaders", next((BUILD / "bench").glob("libbench_loaders_work.*"))


def figures(contestant, program, library, folder, workers, batches):
    """One run's figures; None if the contestant isn't installed."""
    arguments = [folder, str(workers), str(batches)]
    command = [program, contestant, *arguments] if contestant in OF_WEIR else \
        [sys.executable, Path(__file__).with_name("contestant.py"), contestant, library, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 77:
        print(f"left out: {contestant}: {done.stderr.strip()}", file=sys.stderr)
        return None
    if done.returncode != 0:
        raise SystemExit(f"bench/run loaders: {contestant} failed: {done.stderr}")
    return json.loads(done.stdout)


def measure(workers, quick, program, library, folder):
    """{title: {figure: (median, smallest, greatest)}} for this number of workers."""
    rounds, batches = (2, 4) if quick else (7, 8 + 4 * workers)
    runs = {title: [] for title in CONTESTANTS}
    for _ in range(rounds):
        for title in list(runs):
            one = figures(CONTESTANTS[title], program, library, folder, workers, batches)
            if one is None:
                del runs[title]
            else:
                runs[title].append(one)
    return {title: {figure: (statistics.median(values), min(values), max(values))
                    for figure in ("rate", "cpu_ms", "memory", "waits")
                    for values in [[one[figure] for one in all_of_it]]}
            for title, all_of_it in runs.items()}


def table(workers, results):
    base = results["Python threads by hand"]["cpu_ms"][0]
    print(f"\n{workers} at work: images/s (smallest to greatest), processor ms an image (ratio to threads by hand), MB, and "
          "the share of the time in which the foreground waits")
    for title, of in results.items():
        rate, least, most = of["rate"]
        print(f"  {title:24}{rate:8.0f} ({least:.0f} to {most:.0f}){of['cpu_ms'][0]:8.3f} ({of['cpu_ms'][0] / base:.3f})"
              f"{of['memory'][0]:6.0f}{100 * of['waits'][0]:6.0f} %")


def document(everything, quick):
    """What `--json` prints: the figures that bench/indicators/models/weir_loaders.json declares, and all others."""
    of_most = everything[max(everything)]
    ours = {figure: values[0] for figure, values in of_most["weir, batch_slots"].items()}
    return {"component": "weir", "name": "WeirLoaders",
            "@parameters": {"workers": ",".join(str(n) for n in everything), "quick": quick},
            "@result": {"images_per_second": ours["rate"], "cpu_ms": ours["cpu_ms"],
                        "cpu_ratio_to_threads": ours["cpu_ms"] / of_most["Python threads by hand"]["cpu_ms"][0],
                        "memory_mb": ours["memory"], "foreground_waits_share": ours["waits"]},
            "batch": 64, "photographs": PHOTOS, "contestants": everything}


def main(words):
    as_json, quick = "--json" in words, "--quick" in words
    most = os.cpu_count() or 1
    workers = [n for n in (1, 2, 4, 8, 16) if n <= most]
    if "--workers" in words:
        workers = [int(n) for n in words[words.index("--workers") + 1].split(",")]
    program, library = build()
    everything = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "photos", folder, str(PHOTOS)], check=True)
        for n in workers:
            everything[n] = measure(n, quick, program, library, folder)
            if not as_json:
                table(n, everything[n])
    if as_json:
        print(json.dumps(document(everything, quick), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
