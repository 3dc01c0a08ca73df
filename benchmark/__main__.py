"""``python -m benchmark`` is ``bench``."""

from benchmark.cli import main

if __name__ == "__main__":
    main()
