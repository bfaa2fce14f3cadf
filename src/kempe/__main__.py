"""``python -m kempe`` is the command line."""

from kempe.cli import main

if __name__ == "__main__":
    main()
