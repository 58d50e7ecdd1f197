"""What every room stands on: errors, checks, arrays, common terms, progress, registries."""
