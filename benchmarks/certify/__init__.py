"""Networks certified, beside peers."""
