"""Fuzz every reader of files: success or one sentence, within 10 s of CPU and 1 GiB.

    python -m benchmarks.readers [--readers journal store …] [--n 2000] [--seed 0]
        [--store readers.jsonl] [--keep FOLDER]
    python -m benchmarks.readers --numbers [--readers experiment store …]

A case is a whole file, damaged by its number and the seed, and read and used in a process of its
own, which is forked. Tallies of finished blocks are kept in the store, and the same command goes on
where it was stopped. With --keep the files of failures are copied there. With --numbers nothing is
drawn: each whole number of each file in turn is made negative or enormous. Exit code 1 on a
failure.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.readers.mutations import damage
from benchmarks.readers.numbers import cases
from benchmarks.readers.readers import READERS, Reader

CPU_SECONDS = 10
MEMORY = 1 << 30
BLOCK = 100

SUCCESS, SENTENCE = "success", "sentence"


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, print the tallies and the failures."""
    options = parser().parse_args(arguments)
    if options.numbers:
        return int(sum(enormous(name) for name in options.readers) > 0)
    store = Path(options.store)
    done = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    failures = 0
    for number, name in enumerate(READERS):
        if name not in options.readers:
            continue
        tally, worst = Counter[str](), [0.0, 0.0]
        for start in range(0, options.n, BLOCK):
            key = {"reader": name, "seed": options.seed, "start": start}
            found = next((row for row in done if {**row, **key} == row), None)
            if found is None:
                count = min(BLOCK, options.n - start)
                found = key | block(name, [options.seed, number], start, count, options.keep)
                with store.open("a") as file:
                    file.write(json.dumps(found) + "\n")
            tally.update(found["tally"])
            worst = [max(worst[0], found["seconds"]), max(worst[1], found["megabytes"])]
            for failure in found["failures"]:
                failures += 1
                print(f"FAILURE {name} {failure}")
        parts = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.items()))
        print(f"{name}: {parts}; at most {worst[0]:.1f} CPU s, {worst[1]:.0f} MB", flush=True)
    print(f"{failures} failures")
    return int(failures > 0)


def block(name: str, seed: list[int], start: int, count: int, keep: str | None) -> dict[str, Any]:
    """Return the tally, the extremes and the failures of some cases."""
    tally, failures = Counter[str](), []
    seconds = megabytes = 0.0
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as folder:
        wholes = reader.wholes(Path(folder))
        for whole in wholes:  # so that modules are loaded before anything is forked
            with tempfile.TemporaryDirectory() as place:
                reader.use(Path(shutil.copy(whole, place)))
        for case in range(start, start + count):
            rng = np.random.default_rng([*seed, case])
            whole = wholes[int(rng.integers(len(wholes)))]
            with tempfile.TemporaryDirectory() as place:
                path = Path(shutil.copy(whole, place))
                damage(path, reader.kind, rng)
                answer, used, size = forked(reader, path)
                tally[answer.split(":")[0]] += 1
                seconds, megabytes = max(seconds, used), max(megabytes, size)
                if answer not in (SUCCESS, SENTENCE):
                    failures.append(f"case {case} ({whole.name}): {answer}")
                    if keep is not None:
                        Path(keep).mkdir(exist_ok=True)
                        shutil.copy(path, Path(keep) / f"{name}_{case}{path.suffix}")
    return {
        "tally": dict(tally),
        "seconds": round(seconds, 2),
        "megabytes": round(megabytes),
        "failures": failures,
    }


def enormous(name: str, every: int = 1) -> int:
    """Try every whole number of a reader's files; print what became of them, return failures."""
    reader, failures, tally = READERS[name], 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as place:
        for whole in reader.wholes(Path(folder)):
            reader.use(Path(shutil.copy(whole, place)))
            kind = "json" if whole.suffix == ".json" else reader.kind
            for label, path in cases(whole, kind, Path(place), every):
                answer = forked(reader, path)[0]
                tally[answer.split(":")[0]] += 1
                if answer not in (SUCCESS, SENTENCE):
                    failures += 1
                    print(f"FAILURE {name} {whole.name} {label}: {answer}")
    print(f"{name}: {', '.join(f'{count} {kind}' for kind, count in sorted(tally.items()))}")
    return failures


def forked(reader: Reader, path: Path) -> tuple[str, float, float]:
    """Return what became of a file, the CPU seconds, and the megabytes beyond this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        before = _resident()
        os.write(write, pickle.dumps((_answer(reader, path), before)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        sent = stream.read()
    _, status, usage = os.wait4(child, 0)
    used = usage.ru_utime + usage.ru_stime
    if not sent:
        code = os.waitstatus_to_exitcode(status)
        return f"ended: exit code {code} after {used:.1f} CPU s", used, usage.ru_maxrss / 1024
    answer, before = pickle.loads(sent)
    size = max(0.0, usage.ru_maxrss / 1024 - before)
    if size > MEMORY >> 20:
        answer = f"memory: {size:.0f} MB"
    elif used > CPU_SECONDS:
        answer = f"time: {used:.1f} CPU s"
    return answer, used, size


def _answer(reader: Reader, path: Path) -> str:
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        limit = 3 * CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limit, -1))
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (addresses + 4 * MEMORY, -1))
        try:
            reader.use(path)
        except nm.NnboError as error:
            return SENTENCE if str(error).strip() else "empty sentence"
        except BaseException as error:
            last = [
                frame
                for frame in traceback.extract_tb(error.__traceback__)
                if "nnbo_mip" in frame.filename
            ][-1:]
            where = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else "?"
            return f"{type(error).__name__}: {str(error)[:150]} [{where}]"
    return SUCCESS


def _resident() -> float:
    """Return the megabytes that this process holds now, of which a fork shows most as its own."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.readers")
    made.add_argument("--readers", nargs="+", choices=list(READERS), default=list(READERS))
    made.add_argument("--n", type=int, default=2000)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--store", default="readers.jsonl")
    made.add_argument("--keep", help="a folder for the files of failures")
    made.add_argument("--numbers", action="store_true", help="each whole number made enormous")
    return made


if __name__ == "__main__":
    sys.exit(main())
