"""What the baseline runtimes share: task file, MCP connection, identities, outcome file, and the walk over the intents.

A policy is a short program beside this folder; it decides what to do with one call and nothing else. Nothing here imports
the benchmark: these are programs of the runtime contract, version 1.
"""
