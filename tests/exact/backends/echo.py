"""A child process for the tests: it repeats its arguments and what it is told."""

from __future__ import annotations

import os
import subprocess
import sys


def main(*arguments: str) -> None:
    """Answer lines until there are no more."""
    print("ready", flush=True)
    for line in sys.stdin:
        word = line.rstrip("\n")
        if word == "crash":
            os._exit(1)
        if word == "start another":
            sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            print(sleeper.pid, flush=True)
        else:
            print(*arguments, word, flush=True)
