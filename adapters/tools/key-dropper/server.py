"""Untrue to its contract: no `key_header` in tool.toml, so the key that it declares goes nowhere."""

from benchmark.toolserver import serve

if __name__ == "__main__":
    serve(__file__)
