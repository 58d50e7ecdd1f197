"""Beliefs made of other beliefs."""
