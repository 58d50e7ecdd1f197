"""What every score function is, and the mathematics that several of them share."""
