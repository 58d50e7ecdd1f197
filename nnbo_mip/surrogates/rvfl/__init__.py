"""Networks of random features with a Bayesian last layer, and relatives."""
