"""Scores: functions of what a belief says at a point, in pure numbers, and how it says it.

A score function (`functions`) makes a number of mean and std, or of members; a posterior
(`posteriors`) gives these at a point; an `Objective` is one on the other.

>>> from nnbo_mip.scores.functions.improvement import ExpectedImprovement
>>> head = ExpectedImprovement(threshold=1.0)
>>> head.score([1.0, 3.0], [1.0, 0.0]).round(4).tolist()
[0.3989, 2.0]
>>> head.mean_at_level([1.0, 0.0], 2.0).round(4).tolist()
[2.9915, 3.0]
"""
