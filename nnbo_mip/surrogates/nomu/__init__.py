"""NOMU: a main net for the mean, a side net for the model uncertainty."""
