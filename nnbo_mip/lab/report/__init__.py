"""An experiment on one page of HTML that needs nothing else.

>>> from nnbo_mip.lab.report.writing import write_report
>>> write_report("results.db", "report.html")  # doctest: +SKIP
"""
