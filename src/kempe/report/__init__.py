"""A report on a clustering that people look at: one page of HTML with nothing outside it.

The charts are drawn by Chart.js, which is shipped inside the page; ``chart.LICENSE.md`` is its
licence.
"""

from kempe.report.beside import Beside
from kempe.report.prices import Price, pair_prices
from kempe.report.report import Report

__all__ = ["Beside", "Price", "Report", "pair_prices"]
