"""How mean, std and members are read: from a network, tanh units, a Gaussian process, trees."""
