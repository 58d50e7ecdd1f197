"""Past observations from tables: CSV files, data frames, columns."""
