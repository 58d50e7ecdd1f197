"""A score over a domain as a question to the engines, and its answer."""
