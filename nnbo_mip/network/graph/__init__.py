"""The network itself: affine maps and ReLUs, made, joined, simplified, stored."""
