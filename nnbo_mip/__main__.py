"""``python -m nnbo_mip`` is the command ``nnbo-mip``."""

from nnbo_mip.cli import main

main()
