"""Every acquisition of the package keeps the contract, under several options each."""

from __future__ import annotations

from typing import Any

import nnbo_mip as nm
from nnbo_mip.acquisitions import Acquisition
from nnbo_mip.surrogates import Belief
from nnbo_mip.testing.acquisition_contract import AcquisitionContract
from nnbo_mip.testing.analytic_belief import RATIO, AnalyticBelief


class Named(AcquisitionContract):
    spec = ""

    def make(self, **options: Any) -> Acquisition:
        return nm.acquisitions.create(self.spec, **options)


class TestMean(Named):
    spec = "mean"


class TestUcb(Named):
    spec = "ucb:beta=2,factor=0.5"


class TestUcbWithoutUncertainty(Named):
    spec = "ucb:beta=0"

    def shown_as(self) -> str:
        return "mean"


class TestUcbFollowingTheory(Named):
    spec = "ucb:beta=confidence(delta=0.2)"


class TestThompsonSample(Named):
    spec = "ts:seed=4"


class TestEi(Named):
    spec = "ei"


class TestEiWithXi(Named):
    spec = "ei:xi=0.3"


class TestLogEi(Named):
    spec = "logei"


class TestPi(Named):
    spec = "pi"


class TestPiDecaying(Named):
    spec = "pi:xi=decay(start=0.5,rate=0.8),alpha=0.1"


class TestEmpiricalEi(Named):
    spec = "empirical_ei"


class TestEmpiricalEiOfDraws(Named):
    spec = "empirical_ei:n_draws=8,seed=1"


class TestEmpiricalPi(Named):
    spec = "empirical_pi:xi=0.1"


class TestMesOfADraw(Named):
    spec = "mes:sampling=draw"


class TestMesOfMarginals(Named):
    spec = "mes:sampling=gumbel"


class TestMesOfAKnownOptimum(Named):
    spec = "mes:optimum=2.0"


class TestAei(Named):
    spec = "aei"


class TestAeiWithoutNoise(Named):
    spec = "aei:noise=0"


class TestNei(Named):
    spec = "nei"


class TestRatio(Named):
    spec = "ratio"

    def shown_as(self) -> str:
        return "mean"  # that of what the ratio rises with

    def belief(self) -> Belief:
        return AnalyticBelief(offered=RATIO)


class TestEqi(Named):
    spec = "eqi"


class TestEqiOfTheMedianWithoutNoise(Named):
    spec = "eqi:noise=0,beta=0.5"


class TestEiMixture(Named):
    spec = "ei_mixture:xi=0.1"


class TestEiSampled(Named):
    spec = "ei_sampled:n_samples=16,seed=3"


class TestPiMixture(Named):
    spec = "pi_mixture"


class TestQuantileMixture(Named):
    spec = "quantile_mixture:level=0.9"
