"""Training of networks that are to be certified."""
