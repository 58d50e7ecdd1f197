"""How a run stands, for stop rules: what is counted, and what is proven of it."""
