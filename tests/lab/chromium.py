"""Pages opened in a headless Chromium, with what its console said."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)

needs_browser = pytest.mark.skipif(
    BROWSER is None,
    reason="a page is opened in Chromium, which is not installed: apt-get install chromium",
)

FIRST = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(`error: ${event.message}`), true);
addEventListener("unhandledrejection", (event) => problems.push(`rejected: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => problems.push(event.violatedDirective));
</script>"""

LAST = """<script>
addEventListener("load", () => {
  const heard = {};
  try { %s } catch (error) { problems.push(`script: ${error}`); }
  heard.problems = problems;
  const told = document.createElement("pre");
  told.id = "heard";
  told.textContent = JSON.stringify(heard);
  document.body.append(told);
});
</script>"""


@dataclass(frozen=True)
class Opened:
    """A page after its scripts have run: what a script of the test noted, and the console."""

    heard: dict[str, Any]
    console: list[str]


def opened(page: Path, script: str = "", width: int = 1000, *options: str) -> Opened:
    """Open a page, run a script when it has loaded, and return what it put into `heard`."""
    assert BROWSER is not None
    text = page.read_text(encoding="utf-8")
    watched = page.with_name("watched.html")
    text = text.replace("<head>", f"<head>{FIRST}", 1)
    watched.write_text(text.replace("</body>", f"{LAST % script}</body>", 1), encoding="utf-8")
    run = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--enable-logging=stderr",
            "--v=0",
            f"--user-data-dir={page.parent / 'profile'}",
            f"--window-size={width},900",
            "--virtual-time-budget=2000",
            *options,
            "--dump-dom",
            watched.as_uri(),
        ],
        capture_output=True,
        check=True,
        text=True,
        timeout=240,
    )
    found = re.search(r'<pre id="heard">(.*?)</pre>', run.stdout, flags=re.DOTALL)
    assert found is not None, run.stderr[-2000:]
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return Opened(json.loads(unescape(found[1])), console)
