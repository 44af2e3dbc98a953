#!/usr/bin/env python3
"""openmetrics.py FILE <TEXT      reads a text of OpenMetrics, and writes the names of its first run's stages, in
                                  their order, each with a byte 0 behind it
openmetrics.py --is-there         whether there is what it takes"""

import sys

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, where another Python comes first
from prometheus_client.openmetrics.parser import text_string_to_metric_families

if sys.argv[1] != "--is-there":
    text = sys.stdin.buffer.read().decode()
    families = {f.name: f for f in text_string_to_metric_families(text)}
    assert families["weir_stage_busy_seconds"].unit == "seconds"
    assert families["weir_queue_limit_bytes"].unit == "bytes"
    assert families["weir_stage_task_duration_seconds"].type == "histogram"
    verdicts = {s.labels["run"]: s for s in families["weir_run_verdict"].samples}
    assert verdicts["explained"].labels["cause"] == "stage"
    assert verdicts["explained"].labels["stage"] == 'a"b\\c\nd'
    tasks = families["weir_stage_tasks"]
    assert tasks.type == "counter"
    run = tasks.samples[0].labels["run"]
    names = [s.labels["stage"] for s in tasks.samples if s.labels["run"] == run]
    with open(sys.argv[1], "wb") as out:
        out.write("".join(name + "\0" for name in names).encode())
