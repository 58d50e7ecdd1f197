"""Other people's optimizers as methods of an experiment, one file each (extra peers-bo)."""
