"""One instance, decided and checked in a process that has loaded its kernels; CPU seconds count."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.vnncomp.instances import Instance
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import kept_by
from nnbo_mip.exact.bounds.compiled_relaxation import load_deep_kernel, load_kernel
from nnbo_mip.exact.branching import phases
from nnbo_mip.exact.property_certificate import PropertyCertificate
from nnbo_mip.exact.verify import verify
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.inputs import as_network

FLOAT32_ROUNDING = 1e-4
"""Share of the outputs' size by which a forward pass in float32 may differ."""


def warm_up() -> None:
    """Load what is compiled once a machine."""
    load_kernel()
    load_deep_kernel()
    phases.load_kernels()
    phases.load_ascent_kernels()


def decide(folder: Path, instance: Instance, limit: float, check_limit: float) -> dict[str, Any]:
    """Return what is stored about an instance: answer, CPU seconds, verdict of the check."""
    network_path, property_path = instance.paths(folder)
    started = time.process_time()
    with kept_by(time.process_time):
        network = as_network(network_path)
        result = verify(network, property_path, time_limit=limit)
    seconds = time.process_time() - started
    stored: dict[str, Any] = {
        "key": instance.key,
        "limit": limit,
        "verdict": result.verdict,
        "seconds": seconds,
        "counters": dict(result.counters),
        "message": result.message,
    }
    if result.verdict == "unknown":
        return stored
    certificate = PropertyCertificate.from_json(result.certificate.to_json())
    if result.verdict == "sat" or check_limit > 0.0:
        started = time.process_time()
        checked = certificate.check(network, time_limit=max(check_limit, 10.0))
        stored["check"], stored["reason"] = checked.verdict, checked.reason
        stored["check_seconds"] = time.process_time() - started
    if result.x is not None and result.outputs is not None:
        stored["runtime"] = _agrees(network_path, network, result.x, result.outputs)
    return stored


def _agrees(path: Path, network: Network, x: FloatArray, outputs: FloatArray) -> str:
    """Say whether onnxruntime's forward pass agrees with ours, up to float32's rounding."""
    try:
        import onnxruntime
    except ImportError:
        return "not installed"
    from nnbo_mip.core.files import read_limited

    content = read_limited(path, 1 << 30, "the network", "use another")
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    shape = [size if isinstance(size, int) and size > 0 else 1 for size in entry.shape]
    precision = np.float64 if entry.type == "tensor(double)" else np.float32
    given = x.astype(precision).reshape(shape)
    found = np.asarray(session.run(None, {entry.name: given})[0], dtype=np.float64).ravel()
    exact = network.evaluate(given.astype(np.float64).reshape(1, -1))[0]
    allowed = FLOAT32_ROUNDING * max(1.0, float(np.abs(outputs).max()))
    return "agrees" if bool((np.abs(found - exact) <= allowed).all()) else "differs"
