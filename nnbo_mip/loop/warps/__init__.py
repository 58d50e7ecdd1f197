"""Values as models see them."""
