"""Pilots on binaries, integers and categories: by them the default of such spaces is chosen."""
