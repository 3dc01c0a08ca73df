"""Scoring: from a history to a judgement. Pure: no input or output, no clock, no random number."""

from benchmark.scoring.judge import judge

__all__ = ["judge"]
