"""Makes the tables of docs/reference/torch_rejected.md from core_operators.py and the importer's
exceptions.

    python tests/torch/rejected_page.py      # writes the tables into the page, and nothing else
"""
import ast
from pathlib import Path

import tunec.torch

from core_operators import CORE, Done, Rejected

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/torch_rejected.md"
_BEGIN, _END = "<!-- {} -->\n", "<!-- end -->\n"

# The work that support would need, by the message of the rejection. "..." replaces a part that
# varies. A message with None is not on the page, because no operator of a model causes it.
TAKES = {
    "... of booleans": "sums of booleans that torch has as `or`; none was met in a model",
    "... is not of ATen: export or decompose the module first": None,
    "... interpolation of ...": "interpolation of integers in the wider type, rounded as torch does",
    "... spatial axes, expected 1 to 3": "nothing: torch has no others",
    "a graph that needs ...": None,
    "a mask as an index: how many elements it selects depends on values":
        "as `nonzero`",
    "a mask as an index: which value goes where depends on values":
        "as `masked_scatter`, for the values of whole rows",
    "a division of integers whose divisor may be 0, which is an error in torch":
        "a check of the divisors, and an error of a run",
    "a negative epsilon": "nothing: no model has one",
    "a number that is made of sizes and is no whole one: ...":
        "an argument of the part for each such number, computed by torch",
    "a size that the text cannot express: ...": "more functions in the grammar of sizes",
    "a range that is that of the values": "two reductions before the bins are counted",
    "a reduction ...": "nothing: torch has no others",
    "a running product of ... elements, expected at most ...": "a scan by products in the compiler",
    "a size that is not fixed: ...": "sizes that depend on values, as `nonzero`",
    "a tensor of ...": "complex and quantised types",
    "a value of several elements": "a fill by a tensor of one element, which torch wants as well",
    "an input of ...": "complex and quantised types",
    "an integer of more than 53 bits as padding: ...": "integers as attributes of `pad`",
    "averages of ...": "averages of integers, rounded as torch does",
    "bounds of booleans": "nothing: torch rejects them in eager mode",
    "distances of more than a million pairs": "as `_cdist_forward`, and a gather of a triangle",
    "elements by their offsets, of a tensor that is not row-major":
        "the operand's strides in the handler: an index table that follows them",
    "elements behind the tensor": "nothing: an error of the program",
    "gradients by frequency": "a count of each index by a scatter, and a gather of it",
    "gradients of ...": "nothing: integers have no gradients",
    "groups other than of rows": "grouped products whose inner dimension is cut",
    "heads of size 0": "nothing: results of zeros that no model has",
    "images without elements": "nothing: torch rejects them",
    "more than ... elements in order": "a sort in several stages of one kernel",
    "nested graphs that run by a condition or again and again":
        "the graph's `if`, `while` and `scan`, which are read but not executed",
    "no operator of ATen: export or decompose the module first":
        "a handler for each operator of another package",
    "operands without elements": "results of zeros; no model has them",
    "operands without elements, or of other than 1 to 3 spatial axes": "as `convolution`",
    "places in windows of ... elements": "an `argmax` of windows in the compiler",
    "random numbers: dropout of attention":
        "in training AOTAutograd writes it out, with dropout by itself; in an export, as `rand`",
    "random numbers; in inference dropout is nothing": "as `rand`; in training see below",
    "results of ...": "complex and quantised types",
    "rounding_mode ...": "nothing: torch has no others",
    "running moments that change in place": "nothing: AOTAutograd and export have the functional form",
    "shifts of floats": "nothing: torch rejects them but for scalars",
    "sums of booleans": "`or` as a scatter's reduction",
    "the bits of ... as ...": "a cast of bits in the graph between types of one width",
    "the greatest of a bag, or padding": "a maximum over the rows of a bag, and a mask",
    "the moments that a normalisation by given ones returns":
        "those that are given, as torch returns them on a GPU; no model reads them",
    "the weight ... is ...": "complex and quantised types",
}


def reasons():
    """Returns the messages of tunec.torch's Rejected exceptions, with the names of the modules that
    raise each message."""
    found = {}
    folder = Path(tunec.torch.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and getattr(getattr(node.exc, "func", None), "id",
                                                       "") == "Rejected":
                message = _message(node.exc.args[0])
                if message is not None:
                    found.setdefault(message, set()).add(path.stem)
    return found


def _message(argument):
    if isinstance(argument, ast.Constant):
        return argument.value
    if isinstance(argument, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "..."
                       for part in argument.values)
    return None  # a message of another package


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def tables():
    """Returns the text of each table by its name."""
    operators = [(f"`{name}`", row.takes) for name, row in sorted(CORE.items())
                 if isinstance(row, Rejected)]
    types = [(f"`{name}`", ", ".join(sorted(row.rejected_types))) for name, row in sorted(CORE.items())
             if isinstance(row, Done) and row.rejected_types]
    messages = [(message, ", ".join(sorted(where)), TAKES[message])
                for message, where in sorted(reasons().items()) if TAKES[message] is not None]
    return {"operators": _table(["operator", "what it would take"], operators),
            "types": _table(["operator", "types that torch has and tunec rejects"], types),
            "reasons": _table(["reason", "in", "what it would take"], messages)}


def with_tables(text):
    """Returns the text of the page with its tables replaced by the current ones."""
    for name, table in tables().items():
        begin = text.index(_BEGIN.format(name)) + len(_BEGIN.format(name))
        text = text[:begin] + "\n" + table + "\n" + text[text.index(_END, begin):]
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
