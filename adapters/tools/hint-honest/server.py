"""A hint that is true: a start of a job that runs answers with that job."""

from benchmark.toolserver import serve

if __name__ == "__main__":
    serve(__file__)
