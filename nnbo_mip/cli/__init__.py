"""The command ``nnbo-mip``, one module a command."""
