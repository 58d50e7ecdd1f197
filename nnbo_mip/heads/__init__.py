"""What is maximized of a belief: readouts of a network, and heads on them."""
