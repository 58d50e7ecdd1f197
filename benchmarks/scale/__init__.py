"""Large experiments: overhead, memory, queries."""
