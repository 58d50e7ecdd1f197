"""Damaged and hostile files: every reader answers with success or one sentence."""
