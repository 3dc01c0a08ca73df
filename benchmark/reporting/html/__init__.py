"""The HTML report: an offline index page, one page a cell, nothing fetched from anywhere."""

from benchmark.reporting.html.pages import Pages
from benchmark.reporting.html.report import Written, write, write_cells, write_several

__all__ = ["Pages", "Written", "write", "write_cells", "write_several"]
