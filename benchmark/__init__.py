"""Declared-Effect Bench: does an agent runtime do exactly the external effects its user authorised?"""

__version__ = "0.1.0"
