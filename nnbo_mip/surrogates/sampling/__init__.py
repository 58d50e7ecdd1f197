"""Markov chains: Gibbs steps, hybrid Monte Carlo, NUTS and stochastic-gradient HMC.

They know an energy, minus the logarithm of a density up to a constant, and its gradient, and
nothing of networks. C chains run side by side: positions are (C, P) arrays.
"""
