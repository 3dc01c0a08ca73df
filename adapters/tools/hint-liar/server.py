"""Untrue to its hint: every call is another effect."""

from benchmark.toolserver import serve

if __name__ == "__main__":
    serve(__file__)
