"""Properties of networks: what inputs must not reach which outputs, and how that is proven."""
