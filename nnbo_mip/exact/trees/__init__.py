"""Trees: boxes between thresholds, what they prove of heads, and mixed-integer programs."""
