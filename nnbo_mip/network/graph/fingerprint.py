"""What tells a network from every other: SHA-256 of canonical bytes.

The bytes of version 2 can be taken apart again: counts stand before what they count, so that two
networks with the same bytes are one function with the same names. Version 1 joined the names by NUL
and did not count the terms of a map; it is kept for the certificates that name a network by it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nnbo_mip.network.graph.graph import Network

NEWEST = 2


def fingerprint(network: Network, version: int = NEWEST) -> str:
    """Return the SHA-256 of a network, in hexadecimal.

    Parameters
    ----------
    network : Network
    version : {2, 1}
        Which bytes: those of this release, or those of certificates of version 1.
    """
    digest = hashlib.sha256(b"nnbo_mip network %d" % version)
    digest.update(_counts(network.n_inputs, len(network.layers)))
    for affine in (*network.layers, network.head):
        if version > 1:
            digest.update(_counts(len(affine.terms)))
        affine.update_hash(digest)
    if version == 1:
        digest.update("\0".join(network.output_names).encode())
        return digest.hexdigest()
    for name in network.output_names:
        encoded = name.encode(errors="surrogatepass")
        digest.update(_counts(len(encoded)) + encoded)
    return digest.hexdigest()


def _counts(*numbers: int) -> bytes:
    return np.array(numbers, dtype=np.int64).tobytes()
