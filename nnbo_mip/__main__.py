"""``python -m nnbo_mip`` is the command ``nnbo-mip``."""

from nnbo_mip.cli.main import main

main()
