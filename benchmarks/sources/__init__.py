"""The experiments of the sources, and what became of their claims."""
