"""The importers and exporters of networks, by the names of the libraries."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.network.graph.graph import Network

_IMPORTERS = "nnbo_mip.network.importers"

importers: Registry[Network] = Registry(
    "network importer",
    Network,
    {
        "torch": f"{_IMPORTERS}.torch.importer:from_torch",
        "onnx": f"{_IMPORTERS}.onnx.importer:from_onnx",
        "sklearn": f"{_IMPORTERS}.sklearn:from_sklearn",
    },
    group="nnbo_mip.importers",
)
"""Functions that make a network of another library's model."""

exporters: Registry[object] = Registry(
    "network exporter",
    object,
    {"onnx": f"{_IMPORTERS}.onnx.exporter:to_onnx"},
    group="nnbo_mip.exporters",
)
"""Functions of a network and a path that write it for another library."""
