"""How far proofs reach: exact maxima of acquisitions on beliefs taken out of real runs."""
