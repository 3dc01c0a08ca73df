"""Both legs in one upstream request: the contract in tool.toml says it all."""

from benchmark.toolserver import serve

if __name__ == "__main__":
    serve(__file__)
