#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that each mutant in the lists still fits: the text that it replaces occurs exactly once in the library. The scripts
of the lists check that a test finds the mutant."""
import importlib.machinery
import importlib.util
import pathlib
import sys

tests = pathlib.Path(__file__).resolve().parents[1]
include = tests.parent / "include" / "weir"
sys.path.insert(0, str(tests / "support"))
from change import Stale, change_once  # noqa: E402

sys.dont_write_bytecode = True


def script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("/", "_"), str(tests / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def main():
    schedules, interleavings, faults, cuda, mpi, models = (
        script(name) for name in ("exploration/schedules/mutants", "exploration/interleavings/mutants",
                                  "exploration/faults/mutants", "cuda/mutants", "mpi/mutants",
                                  "exploration/models/run"))
    of_models = tests / "exploration" / "models"
    wrong = []
    fitting = 0
    changes = [(name, file, lambda code, old=old, new=new: change_once(code, old, new))
               for module in (schedules, interleavings, faults, cuda, mpi) for name, file, old, new, _ in module.read_mutants()]
    for mutant in models.read_mutants((of_models / "mutants.txt").read_text()):
        changes.append((mutant.name, mutant.file, mutant.change))
    for name, file, change in changes:
        code = (include / file).read_text()
        try:
            if change(code) == code:
                wrong.append(f"'{name}' changes nothing in {file}")
            else:
                fitting += 1
        except (Stale, models.Wrong) as e:
            wrong.append(f"'{name}' in {file}: {e}")
    survivors = models.read_survivors((of_models / "survivors.tsv").read_text())
    for file, part in models.ORDERS_OF.items():
        try:
            fitting += len(list(models.order_mutants(file, part, (include / file).read_text(), survivors)))
        except models.Wrong as e:
            wrong.append(str(e))
    wrong += [f"survivors.tsv: {file}: nothing is weakened to {to} in: {statement}" for file, statement, to in survivors]
    print(*wrong, f"{fitting} fit, {len(wrong)} do not", sep="\n")
    return 1 if wrong or not fitting else 0


if __name__ == "__main__":
    sys.exit(main())
