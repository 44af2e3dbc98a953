#!/usr/bin/env python3
"""Runs `indicator` as its users do: with programs that misbehave, with documents of other runners, from a script to a
recommendation, with models that change; tests/indicators/kills.py, which this starts, kills it.

    tests/indicators/program.py PROGRAM [BENCH_FOLDER]

With a folder of built benchmarks it looks whether what those print is accepted.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import kills  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
BENCH = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOOD = ('{"component":"numpy","name":"PiMatmul","@parameters":{"dtype":"float32","device":"cpu","reps":50,"matrix_size":512},'
        '"@result":{"rate":7.15,"elapsed":37.50576},"numpy_buildinfo":null}\n')

failures = []
folder = ""


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("failed:", what, flush=True)


def environment(**more):
    clean = {n: v for n, v in os.environ.items() if n != "INDICATOR_MODELS"}
    return {**clean, "TMPDIR": path("temporary"), **more}


def path(name):
    return os.path.join(folder, name)


def call(*arguments, status=0, text=None, **more):
    """What it printed. Its exit status has to be this one."""
    done = subprocess.run([PROGRAM, *arguments], env=environment(**more), cwd=folder, timeout=120, input=text or "",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    said = done.stdout[-200:] if not done.stderr else done.stderr[-300:]
    expect(done.returncode == status, f"{' '.join(arguments)[:150]}: exit status {done.returncode}, not {status}: {said}")
    return done


def refused(words, *arguments, status=2):
    done = call(*arguments, status=status)
    expect(words in done.stderr, f"{' '.join(arguments)[:150]}: says {done.stderr[:300]!r}, and not {words!r}")


def write(name, content, executable=False):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path(name), 0o755 if executable else 0o644)
    return path(name)


def script(name, body):
    return write(name, "#!/bin/sh\n" + body + "\n", executable=True)


def edit(old, new):
    """The good document with some of its text replaced."""
    assert old in GOOD, old
    return GOOD.replace(old, new, 1)


def query(store, *arguments):
    done = call("query", "--json", "--store", store, *arguments)
    return json.loads(done.stdout) if done.returncode == 0 else {"results": [], "incomplete_batches": []}


def found(store, *arguments):
    return query(store, *arguments)["results"]


def rows(store, sql):
    file = sqlite3.connect(path(store))
    try:
        return file.execute(sql).fetchall()
    finally:
        file.close()


def has_reason(reasons, where, words):
    return any(r["path"] == where and words in r["reason"] for r in reasons)


# A text that a program prints, where the reason points to in it, and words of the reason.
TEXTS = [
    ("warming up\n" + GOOD, "", "text before the document"), (GOOD + "done", "", ""), (GOOD + GOOD, "", ""),
    ("no JSON", "", "is no JSON"), (GOOD[:60], "", "ends in the middle"), ("", "", "nothing was printed"),
    (" \n\n", "", "nothing was printed"), ("[1,2]", "", "an indicator is an object"),
    ("5", "", "an indicator is an object"),
    ("null", "", "an indicator is an object"), ('"text"', "", "an indicator is an object"), ("{}", "", ""),
    (GOOD.encode().replace(b"float32", b"fl\xffat"), "", "is no UTF-8"),
    (GOOD.encode().replace(b"float32", b"\xed\xa0\x80"), "", "is no UTF-8"), (b"\x80", "", "byte 0 is no UTF-8"),
    (GOOD.encode() + b"\0", "", "is a zero"), (edit("float32", "\\ud800"), "", "is no JSON"),
    (edit('"name":"PiMatmul",', ""), "", "has no 'name'"),
    (edit("PiMatmul", "PiHelloWorld"), ".name", "there is PiConv1D, "),
    (edit('"PiMatmul"', "7"), ".name", "has to be a text"),
    (edit("PiMatmul", "x'; DROP TABLE pi_matmul; --"), ".name", "no ind"),
    (edit('"component":"numpy",', ""), "", "has no 'component'"),
    (edit('"numpy"', '""'), ".component", "has to be the name"),
    (edit('"numpy",', '"numpy","framework":"torch",'), ".component", "they mean the same"),
    ('{"component":"c","name":"PiMatmul","@result":{"rate":7.15,"elapsed":37.5}}', "", "has no '@parameters'"),
    ('{"component":"c","name":"PiMatmul","@parameters":{"reps":5}}', "", "has no '@result'"),
    ('{"component":"c","name":"PiMatmul","@parameters":[],"@result":{}}', ".@parameters", "has to be an object"),
    ('{"component":"c","name":"PiMatmul","@parameters":{},"@result":7}', ".@result", "has to be an object"),
    (edit('"reps"', '"rate":7.15,"reps"'), ".@result.rate", "is in @parameters, too"),
    (edit('"rate"', '"rate":8,"rate"'), ".@result.rate", "twice"),
    (edit('"rate"', '"r\\u0061te":8,"rate"'), ".@result.rate", "twice"),
    (edit('"name"', '"name":"PiConv1D","name"'), ".name", "twice"),
    (edit('"elapsed":37.50576', '"el":37.5'), ".@result.elapsed", "is missing"),
    (edit('"reps":50,', ""), ".@parameters.reps", "is missing"),
    (edit('"reps"', '"mini_batch":40,"reps"'), ".@parameters.mini_batch", "has no such member of @parameters; it has dtype"),
    (edit('"rate"', '"gflops":7,"rate"'), ".@result.gflops", "has no such member of @result; it has elapsed, rate"),
    (edit('"reps":50', '"reps":"many"'), ".@parameters.reps", "has to be a whole number, and is a text"),
    (edit(":50,", ":50.0,"), ".@parameters.reps", "has to be a whole number"),
    (edit(":50,", ":5e1,"), ".@parameters.reps", "a whole"),
    (edit(":50,", ":true,"), ".@parameters.reps", "has to be a whole number"),
    (edit(":50,", ":null,"), ".@parameters.reps", "null"),
    (edit('"cpu"', "0"), ".@parameters.device", "has to be a text"),
    (edit("7.15", '"7.15"'), ".@result.rate", "has to be a number"),
    (edit(":50,", ":9223372036854775808,"), ".@parameters.reps", "64 bits"), (edit("7.15", "1e400"), "", "64 bits"),
    (edit(":50,", ":-9223372036854775809,"), ".@parameters.reps", "64 bits"),
    (edit(":50,", ":0,"), ".@parameters.reps", "at least 1"),
    (edit("7.15", "NaN"), "", "NaN is no JSON number"), (edit("7.15", "Infinity"), "", "Infinity is no JSON number"),
    (edit("7.15", "-Infinity"), "", "-Infinity is no JSON number"), (edit("7.15", "[7.15]"), ".@result.rate", "nested"),
    (edit('"rate"', '"suite":{"a":1},"rate"'), ".@result.suite", "is nested"),
    (edit("7.15", "-7.15"), ".@result.rate", "above 0"),
    (edit("null", "[" * 200 + "]" * 200), "", "100 levels"), (edit("7.15", "0.0098"), "", "doesn't hold"),
    (edit("null", '1,"overall_score":"best"'), ".overall_score", "has to be a number"),
    (edit("null", '1,"version":1'), ".version", "a text")]
TEXTS += [(edit('"rate"', f'"{key}":0,"rate"'), f".@result.{key}", "the runner gives a meaning")
          for key in ("exit_code", "EXIT_CODE", "ru_utime", "ru_any", "overall_score", "origin", "version", "id", "@x",
                      "component")]
TEXTS += [(edit('"reps"', f'"{key}":0,"reps"'), f".@parameters.{key}", "the runner gives a meaning")
          for key in ("name", "ru_maxrss")]
CONV = ('{"framework":"tensorflow","name":"PiConv1D","@parameters":{"dtype":"float32","device":"cpu","reps":9,"data_format":"NHWC",'
        '"batch":1,"input_width":10,"input_channels":1,"filter_width":10,"output_channels":1,"strides":1,"padding":"SAME"},'
        '"@result":{"rate":2e-4,"elapsed":1}}')
TEXTS += [(CONV.replace("framework", "component"), ".@parameters.padding", "has to be a whole number"),
          (CONV.replace("Conv1", "Conv2"), ".@parameters.filter_height", "is missing"),
          (edit("PiMatmul", "PiImport"), ".name", "WeirTasks")]
ACCEPTED = [GOOD, "\n " + GOOD + "\n\n", edit("37.50576", "3.75e1"), edit("7.15", "7").replace("37.50576", "38.31"),
            edit("numpy", "NumPy"), edit('"component"', '"framework"'), edit("float32", "fl\\u00f6at \\ud83d\\ude00"),
            edit("null", '{"a":[1,{"b":null}]},"overall_score":5'), CONV]


def run(store, *command, status=1, **more):
    """One run: its document, which has to be there whatever happens, and in the store. `more`: of what it stands in."""
    done = call("run", "--store", store, *command, status=status, **more)
    lines = done.stdout.splitlines()
    expect(len(lines) == 1, f"{' '.join(command)[:150]}: a document is printed, not {len(lines)}")
    document = json.loads(lines[0]) if lines else {}
    kept = rows(store, "SELECT document FROM indicator_results ORDER BY number DESC LIMIT 1")
    expect(kept and json.loads(kept[0][0]) == document, f"{' '.join(command)[:150]}: its document is stored")
    return document


def look_at_texts():
    for number, (text, _, _) in enumerate(TEXTS):
        write(f"texts/{number}", text)
    for number, text in enumerate(ACCEPTED):
        write(f"good/{number}", text)
    for number, (text, where, words) in enumerate(TEXTS):
        document = run("texts.sqlite", "--quiet", "--", "cat", path(f"texts/{number}"))
        what = f"the text {str(text)[:300]!r}"
        expect(document["status"] == "refused" and document["exit_code"] == 0, f"{what} is refused")
        expect(has_reason(document["reasons"], "$.stdout" + where, words),
               f"{what}: {document['reasons']}, not {words!r}")
        raw = text if isinstance(text, bytes) else text.encode()
        kept = document["stdout"]
        kept = base64.b64decode(document["stdout_base64"]) if kept is None else kept
        expect(kept == raw or kept == raw.decode(errors="replace") or kept == json.loads(raw), f"{what} is kept")
    done = call("check", "--json", *[path(f"texts/{number}") for number in range(len(TEXTS))], status=1)
    for told, (text, where, words) in zip(json.loads(done.stdout), TEXTS):
        expect(told["status"] == "refused" and has_reason(told["reasons"], "$" + where, words),
               f"check {told['file']}: {told}")
    refused_ids = {one["@id"] for one in found("texts.sqlite", "--all")}
    expect(len(refused_ids) == len(TEXTS) and found("texts.sqlite") == [], "query shows none of them but with --all")
    expect(all(one["@status"] == "refused" and one["@reasons"] for one in found("texts.sqlite", "--all")),
           "and that with reasons")
    for number, text in enumerate(ACCEPTED):
        document = run("good.sqlite", "--quiet", "--", "cat", path(f"good/{number}"), status=0)
        expect(document["status"] == "accepted" and document["stdout"] == json.loads(text), f"{text!r} is accepted")
    good = found("good.sqlite", "PiMatmul")
    expect([one["rate"] for one in good][:4] == [7.15, 7.15, 7.15, 7.0], "a whole number is a number, too")
    expect({one["@component"] for one in good} == {"numpy"} and good[6]["dtype"] == "fl\u00f6at \U0001F600",
           "texts are kept")
    extra = write("texts/extra", edit('"reps"', '"mini_batch":40,"reps"'))
    document = run("good.sqlite", "--quiet", "--lenient", "--", "cat", extra, status=0)
    expect(document["status"] == "accepted" and found("good.sqlite", "PiMatmul")[-1]["@extra"] == {"mini_batch": 40},
           "--lenient")
    run("good.sqlite", "--quiet", "--lenient", "--", "cat", write("texts/nested", edit('"reps"', '"a":[1],"reps"')))
    expect("accepted" in call("check", "--lenient", extra).stdout, "check --lenient")


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def look_at_ends():
    good = f"cat {write('good.json', GOOD)}"
    os.mkdir(path("folder"))
    write("no_permission", "#!/bin/sh\n" + good)
    write("deaf.pid", "")
    loud = "yes 'no end of this'"

    def ended(what, words, end, *command, code=None, signal=None, status="failed"):
        document = run("ends.sqlite", "--quiet", *command, status=0 if status == "accepted" else 1)
        expect(document["status"] == status, f"{what}: {document['status']}, not {status}")
        expect((document["end"], document["exit_code"], document["signal"]) == (end, code, signal),
               f"{what}: {document['end']}, {document['exit_code']}, {document['signal']}")
        expect(status == "accepted" or has_reason(document["reasons"], "$", words), f"{what}: {document['reasons']}")
        return document

    ended("exit status 3", "exit status 3", "exited", "--", script("exit3", f"{good}; exit 3"), code=3)
    ended("a signal", "SIGSEGV", "signalled", "--", script("segv", f"{good}; kill -SEGV $$"), signal="SIGSEGV")
    ended("a kill", "SIGKILL", "signalled", "--", script("kill", f"{good}; kill -KILL $$"), signal="SIGKILL")
    ended("a hang", "time limit", "timed_out", "--limit-s", "0.2", "--", script("hang", f"{good}; exec sleep 600"))
    hung = script("deaf", f"trap '' TERM; {good}; sleep 600 & echo $! >{path('deaf.pid')}; wait; wait")
    ended("a hang that is deaf", "time limit", "timed_out", "--limit-s", "0.2", "--", hung)
    few = ("--most-output-mb", "0.01")
    document = ended("much output", "too much output", "too_much_output", *few, "--", script("loud", loud))
    expect(1000 < len(document["stdout"]) <= 0.01 * 2**20, f"of it {len(document['stdout'])} bytes are kept")
    document = ended("much on stderr", "too much output", "too_much_output", *few, "--", script("loud2", f"{good}; {loud} >&2"))
    expect(document["stdout"] == json.loads(GOOD) and len(document["stderr"]) <= 0.01 * 2**20, "and of standard error")
    for what, command, why in (("nothing of that name", "./nosuch", "No such file"), ("a folder", "./folder", "ermission"),
                               ("no permission", "./no_permission", "ermission"), ("an empty word", "", "no command")):
        document = ended(what, "no start", "not_started", "--", command)
        expect(why in (document["message"] or ""), f"{what}: {document['message']}")
    ended("standard input", "", "exited", "--", script("reads", f"cat; read line; {good}"), code=0, status="accepted")
    children = "for i in 1 2 3; do sleep 600 & echo $! >>pids; setsid sleep 600 & echo $! >>pids; done"
    ended("children", "", "exited", "--", script("children", f"cd {folder}; {children}; {good}"), code=0, status="accepted")
    with open(path("pids"), encoding="utf-8") as pids, open(path("deaf.pid"), encoding="utf-8") as deaf:
        left = [pid for pid in (pids.read() + deaf.read()).split() if is_running(pid)]
    expect(not left, f"children outlive their run: {left}")
    shows = script("shows", 'sed s/:50,/:$MATMUL_REPS,/ <<E\n' + GOOD + 'E\necho "${GONE-is gone}" >&2; printf "a\\377" >&2')
    document = run("ends.sqlite", "--quiet", "--env", "MATMUL_REPS=7", "--env", "GONE=", "--", shows, status=0, GONE="here",
                   MATMUL_REPS="9")
    expect(document["stdout"]["@parameters"]["reps"] == 7, "--env")
    expect(document["environment"]["set"] == {"MATMUL_REPS": "7", "GONE": ""}, "a document says what was set")
    expect(base64.b64decode(document["stderr_base64"]) == b"is gone\na\xff",
           "--env NAME= takes it away; bytes are kept")
    shown = {one["@status"] for one in found("ends.sqlite", "PiMatmul")}
    expect(shown == {"accepted"} and len(found("ends.sqlite")) == 3, "query shows those that ended well")
    everything = found("ends.sqlite", "--all")
    expect(sum(one["@status"] == "failed" for one in everything) == len(everything) - 3 == 11,
           "and with --all the others")
    answer = json.loads(call("recommend", "PiMatmul", "--json", "--store", "ends.sqlite", status=1).stdout)
    expect(answer["runs"] == 3, "none that failed is scored")  # and those are of three scripts, each run once
    for words, arguments in (("--env A", ["--env", "A", "--", "true"]), ("--batch", ["--batch", "0", "--", "true"]),
                             ("Name the program and its arguments behind --", ["--"]), ("--limit-s", ["--limit-s", "-1", "--", "true"])):
        refused(words, "run", *arguments)
    refused("not a database", "run", "--store", "good.json", "--", "true", status=2)
    expect(open(path("good.json"), encoding="utf-8").read() == GOOD, "a file that is no store stays what it is")
    for arguments in (["query"], ["export"], ["migrate"], ["recommend", "PiMatmul"]):
        refused("there is no store", *arguments, "--store", "nosuch.sqlite")
    expect(not os.path.exists(path("nosuch.sqlite")), "and none is made")


def look_at_wheres():
    """Conditions with what SQL gives a meaning."""
    for text, count in (("device=cpu", 8), ("device='cpu'", 0), ("device=cpu' OR '1'='1", 0), ("matrix_size>=512", 8),
                        ("rate<7.1", 1),
                        ("device!=gpu", 8), ("device=gpu|cpu", 8), ("dtype=fl\u00f6at \U0001F600", 1),
                        ("overall_score>4", 1)):
        where = found("good.sqlite", "PiMatmul", "--where", text, "--where", "reps=50", "--version-of", "")
        expect(len([one for one in where if "@extra" not in one]) == count, f"--where {text}: {len(where)}")
    for text, words in (("reps", "write a condition"), ("=5", "write a condition"), ("reps=many", "is a whole number"),
                        ("x=1", "has no 'x'"),
                        ("@number=1", "has no '@number'"), ("rate<1|2", "several values"), ('reps" OR 1=1', "has no")):
        refused(words, "query", "PiMatmul", "--store", "good.sqlite", "--where", text)


def look_at_models():
    models = json.loads(call("models", "--json").stdout)
    schema = call("models", "--schema").stdout
    sqlite3.connect(":memory:").executescript(schema)
    for model in models:
        page = call("models", model["name"]).stdout
        for name in [*model.get("parameters", {}), *model.get("results", {})]:
            expect(f"| `{name}` |" in page, f"{model['name']}: its page has no {name}")
        expect(model["name"] in page and f'"{list(model["results"])[0]}"' in schema,
               f"{model['name']} has a page and a table")
    refused("no indicator 'PiNone'", "models", "PiNone")
    listed = subprocess.run(["bash", os.path.join(ROOT, "bench", "run"), "--list"], stdout=subprocess.PIPE, encoding="utf-8",
                            timeout=60)
    names = {"Weir" + "".join(word.capitalize() for word in one.split("_")) for one in listed.stdout.split()}
    there = {model["name"] for model in models if model["name"].startswith("Weir")}
    expect(len(names) > 5 and names == there, f"the programs of bench/ and the models: {names ^ there}")
    for command in (["tasks", "--app_items=300"], ["limits", "--json", "--quick"], ["spawn", "--json", "--quick"]):
        if BENCH and os.access(os.path.join(BENCH, command[0]), os.X_OK):
            document = run("bench.sqlite", "--quiet", "--", os.path.join(BENCH, command[0]), *command[1:], status=0)
            expect(document.get("status") == "accepted", f"{command}: {document.get('reasons')}")


def amun(**changed):
    """What Amun, the runner of Thoth, says of a run."""
    usage = {f"ru_{name}": 0 for name in ("ixrss", "idrss", "isrss", "nswap", "msgsnd", "msgrcv", "nsignals")}
    usage |= {"ru_utime": 1.5, "ru_stime": 0.25, "ru_maxrss": 5000, "ru_minflt": 7, "ru_majflt": 0, "ru_inblock": 0,
              "ru_oublock": 8, "ru_nvcsw": 3, "ru_nivcsw": 4}
    result = {"stdout": json.loads(GOOD), "stderr": "warming up\n", "exit_code": 0, "usage": usage, "script_sha256": "ab" * 32,
              "start_datetime": "2020-08-05T14:49:50.644642", "end_datetime": "2020-08-05T14:49:52.000001", "hostname": "node1",
              "os_release": {"id": "fedora", "version_id": "31"},
              "runtime_environment": {"cuda_version": None, "hardware": {"cpu_family": 6, "cpu_model": 94},
                                      "operating_system": {"name": "fedora", "version": "31"}, "python_version": "3.7"},
              "hwinfo": {"cpu_type": {"is_XEON": True}, "cpu_info": {"brand": "Xeon", "count": 4},
                         "platform": {"release": "4.18"}}}
    result |= changed
    return {key: value for key, value in result.items() if value != "left out"}


def look_at_documents():
    """Of other runners; what is no document of theirs was never a run."""
    specification = {"base": "fedora:31", "identifier": "i", "batch_size": 4, "script": "https://example.com/matmul.py",
                     "python": {"requirements_locked": {"default": {"numpy": {"version": "==1.19.1"}}}}}
    # What it is, the document, its status, where a reason points to, its words.
    all_documents = [
        ("good", amun(), "accepted", "", ""), ("within result", {"result": amun(exit_code=0, hostname="node2")}, "accepted", "", ""),
        ("raw text", amun(stdout=GOOD, hostname="node3"), "accepted", "", ""),
        ("text before JSON", amun(stdout="hello\n" + GOOD), "refused", "$.stdout", "text before the document"),
        ("nothing printed", amun(stdout={}), "refused", "$.stdout", "nothing was printed"),
        ("exit 137", amun(exit_code=137), "failed", "$", "exit status 137"),
        ("SIGSEGV", amun(exit_code=-11), "failed", "$", "SIGSEGV"),
        ("no exit code", amun(exit_code="left out"), "refused", "$.exit_code", "is missing"),
        ("no hwinfo", amun(hwinfo="left out", hostname="node4"), "accepted", "", ""),
        ("no os_release", amun(os_release="left out", hostname="node5"), "accepted", "", ""),
        ("null hwinfo", amun(hwinfo=None, os_release=None, runtime_environment=None, usage=None, hostname="node6"), "accepted",
         "", ""),
        ("the first generation", {"specification": specification, "created": "2019-08-01T10:00:00",
                                  "job_log": amun(stdout=json.loads(edit('"component"', '"framework"')), hostname="node7",
                                                  start_datetime="left out", datetime="2019-08-01T10:00:01.5")}, "accepted", "", ""),
        ("an indicator alone", json.loads(edit(":50,", ":51,")), "accepted", "", "")]
    files = [write(f"documents/{n}.json", json.dumps(one[1], indent=n % 3)) for n, one in enumerate(all_documents)]
    told = json.loads(call("import", "--json", "--store", "amun.sqlite", *files, status=1).stdout)
    for one, (what, _, status, where, words) in zip(told, all_documents):
        expect(one["status"] == status, f"{what}: {one}")
        expect(status == "accepted" or has_reason(one["reasons"], where, words), f"{what}: {one['reasons']}")
        expect((one.get("store") == "stored") == (status != "refused"), f"{what}: {one.get('store')}")
    expect([one["generation"] for one in told].count("framework") == 1, "a generation is told")
    good = found("amun.sqlite", "PiMatmul")
    expect(len(good) == 8 and len(found("amun.sqlite", "--all")) == 10, "those that failed are shown with --all alone")
    by_host = {one["@machine"].partition(":")[0]: one for one in good}
    one = by_host["node1"]
    expect((one["@machine"], one["@stack"]["os"], one["@version"]) == ("node1: 4 x Xeon", "fedora 31", "ab" * 32),
           f"node1: {one}")
    expect((one["@user_s"], one["@peak_kb"]) == (1.5, 5000) and abs(one["@time"] - 1596638990.644642) < 0.01,
           f"usage and time: {one}")
    expect(by_host["node4"]["@machine"] == by_host["node6"]["@machine"].replace("6", "4") == "node4: unknown machine",
           "no hwinfo")
    older = by_host["node7"]
    expect(older["@origin"] == specification["script"] and older["@stack"]["numpy"] == "1.19.1",
           f"the first generation: {older}")
    failed = [one for one in found("amun.sqlite", "--all") if one["@status"] == "failed"]
    expect([(one["@exit_code"], one["@signal"]) for one in failed] == [(137, None), (None, "SIGSEGV")],
           "how they ended")
    # The same again, in another order of keys.
    backwards = [write(f"backwards/{n}.json", json.dumps({key: one[1][key] for key in reversed(one[1])}, sort_keys=n % 2 == 0))
                 for n, one in enumerate(all_documents)]
    for again in (files, backwards):
        told = json.loads(call("import", "--json", "--store", "amun.sqlite", *again, status=1).stdout)
        expect({one.get("store") for one in told} == {None, "was there"}, f"each is stored once: {told}")
    # A folder of Amun's, in which 1 and 3 are missing.
    write("inspection/build/specification", json.dumps(specification))
    for place in (0, 2):
        write(f"inspection/results/{place}/result", json.dumps(amun(hostname=f"place{place}")))
        write(f"inspection/results/{place}/log", "")
    for word in ("stored", "was there"):
        text = call("import", "--store", "amun.sqlite", path("inspection") + "/" * (word == "stored")).stdout
        expect(text.count(", " + word) == 2, f"a folder's: {text}")
    gaps = [{"batch": "inspection", "size": 4, "num_missing": 2, "missing": [1, 3]}]
    expect(query("amun.sqlite")["incomplete_batches"] == gaps, "a gap in a batch")
    expect("incomplete" in call("query", "--store", "amun.sqlite").stdout, "a table says so, too")
    # What is exported and imported is the same.
    for store in ("amun", "good", "ends", "texts"):
        text = call("export", "--store", f"{store}.sqlite").stdout
        expect(text.count("\n") == len(found(f"{store}.sqlite", "--all")), f"{store}: each document is a line")
        for new, file in ((f"{store}2.sqlite", write(f"{store}.jsonl", text)), (f"{store}3.sqlite", "-")):
            how = ["--lenient"] if store == "good" else []
            call("import", *how, "--store", new, file, status=1, text=text)
            for how in (["--all"], ["PiMatmul"]):
                same = query(f"{store}.sqlite", *how) == query(new, *how)
                expect(same, f"{store}, query {how}: export | import {'-' * (file == '-')} makes another store")
    # What can't be read is refused as a document is, and the next one is looked at.
    for words, file in (("can't be opened", "nosuch.json"), ("without results/", path("documents"))):
        text = call("check", file, "good.json", status=1).stdout
        expect(words in text and "good.json: accepted" in text, f"check {file}: {text}")


def look_at_recommendations():
    """From a script to what to use."""
    body = """n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count
        python3 -c 'import json, os, sys
n, device, size = int(sys.argv[1]), os.environ["DEVICE"], int(os.environ.get("SIZE", 512))
rate = (40 if device == "gpu" else 7) * (1 + n % 3 / 100)
print(json.dumps({"component": "numpy", "name": "PiMatmul",
                  "@parameters": {"dtype": "float32", "device": device, "reps": 50, "matrix_size": size},
                  "@result": {"rate": rate, "elapsed": size**2 * (2 * size - 1) / rate / 1e6}}))' $n"""
    measured = script("measured", f"cd {folder}\n{body}")

    def recommend(*arguments, status=0):
        return json.loads(call("recommend", "PiMatmul", "--json", "--store", "r.sqlite", *arguments, status=status).stdout)

    def batch(size, **variables):
        call("run", "--batch", str(size), "--quiet", "--store", "r.sqlite", "--", measured, **variables)

    run("r.sqlite", "--quiet", "--", "true")
    answer = recommend(status=1)
    expect((answer["verdict"], answer["runs"]) == ("not enough data", 0), f"of nothing: {answer}")
    batch(1, DEVICE="cpu")
    answer = recommend(status=1)
    expect((answer["verdict"], answer["runs"]) == ("not enough data", 1), f"of one run: {answer}")
    batch(4, DEVICE="cpu")
    batch(4, DEVICE="gpu")
    answer = recommend()
    expect((answer["verdict"], answer["best"], answer["runs"]) == ("recommended", {"device": "gpu"}, 9), f"{answer}")
    expect([one["verdict"] for one in answer["ranking"]] == ["best", "worse"] and answer["cost"] == "rate", f"{answer}")
    expect(40 <= answer["mean"] <= 41 and answer["low"] < answer["mean"] < answer["high"], f"an interval: {answer}")
    expect(len({each for one in answer["ranking"] for each in one["runs"]}) == 9, "which runs those are")
    why = answer["why"][0]
    expect((why["setting"], why["instead"]) == ("device=gpu", "device=cpu"), f"why: {why}")
    answer = recommend("--where", "device=cpu")
    expect((answer["runs"], answer["configurations"]) == (5, 1), f"of cpu alone: {answer}")
    batch(3, DEVICE="cpu", SIZE="256")
    refused("several workloads: matrix_size is 256, 512", "recommend", "PiMatmul", "--store", "r.sqlite")
    expect(recommend("--where", "matrix_size=256")["best"] == {}, "one workload of them")
    expect(recommend("--where", "matrix_size>256", "--where", "device=cpu|gpu")["best"] == {"device": "gpu"},
           "constraints")
    expect(recommend("--choice", "matrix_size")["configurations"] == 3, "--choice")
    text = call("recommend", "PiMatmul", "--store", "r.sqlite", "--where", "matrix_size=512").stdout
    expect("device=gpu" in text and "recommended" in text, "a table")
    machine = recommend("--where", "matrix_size=512")["machine"]
    for n in range(3):
        other = amun(hostname="node1", start_datetime=f"2020-08-05T14:49:5{n}")
        call("import", "--store", "r.sqlite", write("other.json", json.dumps(other)))
    big = ("--where", "matrix_size=512")
    refused("several machines", "recommend", "PiMatmul", "--store", "r.sqlite", *big)
    expect(recommend(*big, "--machine", "node1")["machine"] == ["node1: 4 x Xeon"], "--machine")
    expect(recommend(*big, "--machine", machine[0])["best"] == {"device": "gpu"}, "--machine, the first")
    expect(recommend(*big, "--pool-machines")["runs"] == 12, "--pool-machines")
    expect(recommend(*big, "--machine", "nobody's", status=1)["runs"] == 0, "a machine that nothing ran on")
    refused("has no such result", "recommend", "PiMatmul", "--store", "r.sqlite", *big, "--cost", "device")
    refused("name an indicator", "query", "--store", "r.sqlite", "--where", "device=cpu")


def look_at_runs_of_the_lab():
    text = "@run;@host;mode;work;ms\n" + "".join(
        f"{i};{host};{mode};{work};{ms}\n" for i, (host, mode, work, ms) in enumerate(
            (host, mode, work, ms * work + i / 100) for host, ms in (("one", 2), ("two", 5)) for work in (1, 3)
            for mode, ms in (("fast", ms), ("slow", 2 * ms)) for i in range(3)))
    write("lab.csv", text)
    refused("the runs are of several machines", "recommend", "--runs", "lab.csv")
    told = json.loads(call("recommend", "--json", "--runs", "lab.csv", "--machine", "one", "--where", "work>=3").stdout)
    expect(told["best"] == {"mode": "fast"} and told["n"] == 3 and told["runs"] == 6 and told["machine"] == ["one"],
           f"the lab's runs: {told}")
    told = json.loads(call("recommend", "--json", "--runs", "lab.csv", "--machine", "two").stdout)
    expect(told["best"] == {"mode": "fast", "work": "1"}, f"all factors are choices: {told['best']}")
    refused("there is no column 'size'", "recommend", "--runs", "lab.csv", "--where", "size=3")
    refused("has no such run", "recommend", "--runs", "lab.csv", "--machine", "three")
    refused("not both", "recommend", "PiMatmul", "--runs", "lab.csv")


def look_at_migration():
    def model(name="Mine", **results):
        write("mine/mine.json", json.dumps({"name": name, "parameters": {"n": {"type": "int"}}, "results": results}))

    def migrate(*arguments, status=0):
        return call("--models", path("mine"), "migrate", "--store", "m.sqlite", *arguments, status=status)

    def mine(store="m.sqlite"):
        return [{key: one[key] for key in one if key[0] != "@" and key != "overall_score"} for one in found(store, "Mine")]

    def everything():
        sets = [rows("m.sqlite", "SELECT * FROM indicator_results"), rows("m.sqlite", "SELECT * FROM indicator_models")]
        return [*sets, rows("m.sqlite", "SELECT * FROM indicator_of_mine"), rows("m.sqlite", "SELECT sql FROM sqlite_master")]

    def document(**result):
        text = json.dumps({"component": "c", "name": "Mine", "@parameters": {"n": 1}, "@result": result})
        return write("mine.txt", text)

    a = {"type": "int"}
    first = run("m.sqlite", "--quiet", "--", "cat", document(a=1))
    expect(first["status"] == "refused" and has_reason(first["reasons"], "$.stdout.name", '"Mine"'),
           "a model that nobody knows")
    expect("nothing to do" in call("migrate", "--store", "m.sqlite").stdout, "there is nothing to migrate to")
    model(a=a)
    expect("1 of those that were refused accepted now" in migrate().stdout and mine() == [{"n": 1, "a": 1}],
           "now it is known")
    run("m.sqlite", "--quiet", "--", "cat", document(a=2), status=0, INDICATOR_MODELS=path("mine"))
    model(a=a, b={"type": "text", "optional": True})
    run("m.sqlite", "--quiet", "--", "cat", document(a=3, b="new"), status=0, INDICATOR_MODELS=path("mine"))
    added = [{"n": 1, "a": 1, "b": None}, {"n": 1, "a": 2, "b": None}, {"n": 1, "a": 3, "b": "new"}]
    expect(mine() == added, "an optional field is added by the next result")
    before = everything()
    required = {"type": "float", "at_least": 0}
    model(a=a, b={"type": "text", "optional": True}, c=required)
    done = migrate(status=2)
    expect("3 of them don't fit" in done.stderr and "$.stdout.@result.c: is missing" in done.stderr,
           f"a required one: {done.stderr}")
    kept = run("m.sqlite", "--quiet", "--", "cat", document(a=4, c=0.5), INDICATOR_MODELS=path("mine"))
    expect(kept["status"] == "refused" and has_reason(kept["reasons"], "$", "don't fit"),
           "nor is it a new result's to change")
    after = everything()
    expect(after[0][:-1] == before[0] and after[1:] == before[1:],
           "nothing is changed but for that result, which is refused")
    model(a=a, b={"type": "text", "optional": True}, c={**required, "before": 7})
    expect("3 kept, 1 of those that were refused accepted now" in migrate().stdout, "with what it was before")
    expect([one.get("c") for one in mine()] == [7, 7, 7, 0.5], f"before: {mine()}")
    model(a2={**a, "was": "a"}, b={"type": "text", "optional": True}, c={**required, "before": 7})
    expect("4 kept" in migrate().stdout and [one.get("a2") for one in mine()] == [1, 2, 3, 4], f"a new name: {mine()}")
    model(a2={"type": "float", "was": "a"}, b={"type": "text", "optional": True}, c={**required, "before": 7})
    expect("4 kept" in migrate().stdout, "whole numbers are numbers")
    kinds = rows("m.sqlite", "SELECT DISTINCT typeof(a2) FROM indicator_of_mine")
    expect(kinds == [("real",)] and [one.get("a2") for one in mine()] == [1.0, 2.0, 3.0, 4.0],
           f"and are stored so: {kinds}")
    ids = [one[1] for one in rows("m.sqlite", "SELECT number, id FROM indicator_results ORDER BY number")]
    model(a2={"type": "float", "was": "a"}, b={"type": "text"}, c={**required, "before": 7})
    migrate(status=2)
    expect("1 kept, 0 of those that were refused accepted now, 3 refused now" in migrate("--refuse-misfits").stdout,
           "--refuse-misfits")
    expect([one.get("a2") for one in mine()] == [3.0], "what doesn't fit is refused")
    expect([one["@id"] for one in found("m.sqlite", "--all")] == ids, "and stays")
    expect("b: is missing" in found("m.sqlite", "--all")[0]["@reasons"], "with the reason")
    model(a2={"type": "float", "was": "a"}, b={"type": "text", "optional": True}, c={**required, "before": 7})
    expect("1 kept, 3 of those that were refused accepted now" in migrate().stdout and len(mine()) == 4,
           "and comes back")
    model(a2={"type": "text", "was": "a"})
    migrate(status=2)
    expect(len(mine()) == 4, "a query without the folder knows the model by the store")
    for text, words in (("{", "ends in the middle"), ("[]", "a model is an object"), ('{"name":"PiMatmul"}', "is declared in"),
                        ('{"name":"A b"}', "letters, digits"),
                        ('{"name":"M","results":{"rate":{"type":"int"}}}', "one name means one thing"),
                        ('{"name":"M","results":{"ru_x":{"type":"int"}}}', "the runner gives a meaning"),
                        ('{"name":"M","extends":"M"}', "extends itself"),
                        ('{"name":"M","extends":"N"}', "no model 'N'"),
                        ('{"name":"M","results":{"r":{"type":"int"}},"checks":[{"holds":"r; DROP TABLE m"}]}', "syntax error")):
        write("mine/mine.json", text)
        refused(words, "--models", path("mine"), "models")
    odd = ["a b", "q\"t", "se;mi--", "\u00fcn\u00ef", "select"]
    model("Odd", **{name: {"type": "text", "about": "it's"} for name in odd})
    text = json.dumps({"component": "c", "name": "Odd", "@parameters": {"n": 1}, "@result": {name: "'\"; --" for name in odd}})
    call("--models", path("mine"), "import", "--store", "m.sqlite", write("odd.json", text))
    one = found("m.sqlite", "Odd", "--where", "q\"t='\"; --")
    expect(len(one) == 1 and all(one[0][name] == "'\"; --" for name in odd), f"names that SQL gives a meaning: {one}")
    refused("is no folder", "--models", path("nosuch"), "models")


def look_at_strange_stores():
    """What one document or file does to a store, and to the others in it."""
    for size in (2**62, 10**9):
        big = {"indicator_result": 1, "id": f"big{size}", "exit_code": 0, "end": "exited", "stdout": json.loads(GOOD),
               "batch": {"id": f"b{size}", "place": 0, "size": size}}
        done = subprocess.run([PROGRAM, "import", "--store", "big.sqlite", write("big.json", json.dumps(big))],
                              env=environment(), cwd=folder, timeout=60, stdout=subprocess.PIPE)
        expect(done.returncode in (0, 1), f"a batch of {size}: exit status {done.returncode}")
    if os.path.exists(path("big.sqlite")):  # with little memory, so that the machine's isn't used up
        done = subprocess.run(["sh", "-c", 'ulimit -v 1000000; exec "$@"', "sh", PROGRAM, "query", "--store", "big.sqlite"],
                              env=environment(), cwd=folder, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect(done.returncode == 0, f"query with such batches in the store: {done.returncode}: {done.stderr[-200:]}")
    for levels in (99, 100, 101):
        text = write("deep.json", edit("null", "[" * (levels - 1) + "]" * (levels - 1)))
        status = json.loads(call("check", "--json", text, status=int(levels > 100)).stdout)[0]["status"]
        done = call("run", "--batch", "2", "--quiet", "--store", "deep.sqlite", "--", "cat", text, status=int(levels > 100))
        told = [json.loads(line)["status"] for line in done.stdout.splitlines()]
        expect(told == [status] * 2, f"{levels} levels: check says {status}, and run {told}")
    expect(len({one["@id"] for one in found("deep.sqlite", "--all")} - {""}) == 6, "each has an id")
    # A table of somebody else's, which is called as a model's.
    file = sqlite3.connect(path("others.sqlite"))
    file.executescript("CREATE TABLE pi_matmul (a); INSERT INTO pi_matmul VALUES (5)")
    file.close()
    for name, text in (("refused", edit(":50,", ":0,")), ("good", GOOD)):
        for command in (["run", "--quiet", "--", "cat", write("others.json", text)], ["migrate"]):
            done = subprocess.run([PROGRAM, *command[:1], "--store", "others.sqlite", *command[1:]], env=environment(),
                                  cwd=folder, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            expect(done.stdout != b"" or command == ["migrate"], f"others' table, {name}: the document is printed")
            kept = rows("others.sqlite", "SELECT * FROM pi_matmul")
            expect(kept == [(5,)], f"{name}, {command[0]}: the table of somebody else's has {kept}")
    # A store that breaks while a program runs.
    breaks = script("breaks", f"python3 -c \"import sqlite3; sqlite3.connect('{path('broken.sqlite')}')"
                              f".execute('DROP TABLE indicator_results')\"; cat {path('good.json')}")
    done = call("run", "--quiet", "--store", "broken.sqlite", "--", breaks, status=3)
    expect(done.stdout.count("\n") == 1 and json.loads(done.stdout)["exit_code"] == 0, "what ran is printed, wherever it is stored")


def main():
    os.mkdir(path("temporary"))
    look_at_texts()
    look_at_ends()
    look_at_wheres()
    look_at_models()
    for look in (look_at_documents, look_at_recommendations, look_at_runs_of_the_lab, look_at_migration, look_at_strange_stores):
        look()
    expect(os.listdir(path("temporary")) == [], "it leaves nothing behind")
    os.mkdir(path("kills"))
    kills.look(PROGRAM, path("kills"), environment(TMPDIR=path("kills")), expect, script("prints_good", "cat " + path("good.json")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="weir-indicators-test-") as folder:
        main()
    print(f"{len(TEXTS)} texts, {len(failures)} failures")
    sys.exit(1 if failures else 0)
