"""Pages of HTML that need no other file: texts, tables, pictures that a reader can work with."""
