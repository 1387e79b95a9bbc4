"""A function that applies a check to the Markdown files of a checkout and prints its findings."""
import re
from pathlib import Path

# Build outputs, git's data, and the inputs of fuzzers.
_LEFT_OUT = re.compile(r"(^|/)(build[^/]*|\.git|corpus)/")


def print_findings(root, find):
    """Prints what `find(path)` yields for each Markdown file below the folder `root`, after the file's
    name. Returns the exit code: 1 if there is any finding."""
    found = False
    for path in sorted(Path(root).rglob("*.md")):
        name = str(path.relative_to(root))
        if not _LEFT_OUT.search(name):
            for finding in find(path):
                print(f"{name}{finding}")
                found = True
    return 1 if found else 0
