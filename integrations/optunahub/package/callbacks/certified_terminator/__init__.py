"""A callback that stops a study where the regret that is left is proven to be small."""

from nnbo_mip.integrations.optuna import CertifiedTerminator

__all__ = ["CertifiedTerminator"]
