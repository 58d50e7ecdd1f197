"""What a person sees of a run: pictures and a page, from what was recorded and its model."""
