"""What a catalogue must keep beyond the types of its files, so that no verdict is an accident of a declaration.

Each rule yields ``Problem``s: the key at fault, what is wrong and what to do, and whether loading must stop there (the rest
is advice).
"""

from benchmark.lint.entries import of_adapter, of_provider, of_runtime
from benchmark.lint.pairs import fits, of_pair, of_service, of_spine_pair, of_tools, of_use, runs
from benchmark.lint.problems import Problem
from benchmark.lint.workloads import of_workload

__all__ = [
    "Problem",
    "fits",
    "of_adapter",
    "of_pair",
    "of_provider",
    "of_runtime",
    "of_service",
    "of_spine_pair",
    "of_tools",
    "of_use",
    "of_workload",
    "runs",
]
