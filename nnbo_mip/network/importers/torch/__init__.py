"""PyTorch modules, read by their traced graph."""
