"""A function that runs all code of a page of docs/, from top to bottom, in one interpreter."""
import os
import re
import tempfile
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks_of(text):
    """Returns the blocks of Markdown that are indented by four spaces or more. Leaves out blocks
    that begin with `- ` or a digit, because they are nested lists."""
    found, block = [], []
    for line in text.splitlines() + ["end"]:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line)
        elif block:
            found.append(textwrap.dedent("\n".join(block)) + "\n")
            block = []
    return [one for one in found if not re.match(r"- |\d", one)]


def run_page(name):
    """Runs the page in a temporary folder. Raises the exceptions of the code."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            names = {"__name__": name}
            for block in blocks_of((DOCS / name).read_text()):
                exec(compile(block, name, "exec"), names)
        finally:
            os.chdir(here)
