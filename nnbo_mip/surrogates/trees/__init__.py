"""Forests of regression trees."""
