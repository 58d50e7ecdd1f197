"""Few coordinates through which models see a space of many."""
