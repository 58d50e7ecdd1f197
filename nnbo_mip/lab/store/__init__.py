"""The file of results: its writer, its reader, its tables."""
