#!/usr/bin/env bash
# Build scipydirect and install it into a Python environment (Python 3.11 only):
#
#     bash docs/build_scipydirect.sh [PYTHON]        # default: python3
#
# Plain pip cannot do it. There is no wheel, and the sdist compiles Fortran with
# numpy.distutils, which
#   - is gone from Python 3.12 on;
#   - needs gfortran, and a numpy that the sdist does not declare (hence no build isolation);
#   - breaks with setuptools 60 and later, whereas torch needs 77 (hence a separate build
#     environment, thrown away afterwards).
# A wheel that was built against numpy 1 installs under numpy 2 and fails on import, so no
# cached wheel is ever used. At run time the module needs libgfortran.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$(command -v "${1:-python3}") || { echo "no such Python: ${1:-python3}" >&2; exit 1; }

"$python" - <<'PY'
import sys
if not (3, 11) <= sys.version_info < (3, 12):
    sys.exit(f"scipydirect is built on Python 3.11 only; this is {sys.version.split()[0]}.")
PY

if ! command -v gfortran > /dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
        echo "gfortran is missing; install it (Debian: apt-get install gfortran)." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends gfortran > /dev/null
fi

pin() { grep "^$1==" "$root/constraints.txt"; }

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
"$python" -m venv "$build/venv"
"$build/venv/bin/python" -m pip install -q "$(pin numpy)" "setuptools<60" wheel
"$build/venv/bin/python" -m pip wheel -q --no-build-isolation --no-cache-dir --no-deps \
    --no-binary scipydirect --wheel-dir "$build" "$(pin scipydirect)"
"$python" -m pip install -q --no-cache-dir "$(pin numpy)" "$build"/scipydirect-*.whl

"$python" - <<'PY'
from scipydirect import minimize

# The minimum is 1: at a minimum of 0 its stopping rule, which is relative, never stops.
found = minimize(lambda x: 1 + (x[0] - 0.3) ** 2 + x[1] ** 2, bounds=[(-1, 2), (-2, 3)])
if not found.success or not 1 <= found.fun < 1.0001:
    raise SystemExit(f"scipydirect was built but does not work: {found}")
print("scipydirect is built and works.")
PY
