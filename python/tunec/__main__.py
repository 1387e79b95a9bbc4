"""`python -m tunec` is the command tunec."""
import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the program `tunec` of the package."""
    program = Path(__file__).with_name("bin") / "tunec"
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
