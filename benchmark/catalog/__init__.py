"""Finds, loads and validates the catalogue: workloads, tool adapters, providers, runtimes and oracles.

The engine knows none of them by name; ``load()`` is how it gets them.
"""

from benchmark.catalog.catalogue import Catalogue, Oracle, Placed, load

__all__ = ["Catalogue", "Oracle", "Placed", "load"]
