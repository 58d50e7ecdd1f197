"""A sampler whose every choice comes with a proven bound."""

from nnbo_mip.integrations.optuna import CertifiedSampler

__all__ = ["CertifiedSampler"]
