"""Other people's tools: each has a folder here, and an extra that brings its package."""
