"""The HTML report: an offline index page, one page a cell, nothing fetched from anywhere.

``report.write`` makes one; ``pages.Pages`` says which cells get a page. Nothing is imported here: a command that writes no
report must not pay for templates and charts.
"""
