"""What an import can come to instead of a graph."""
from dataclasses import dataclass

from .._errors import Unsupported


class Refused(Exception):
    """Raised by a handler: tunec has no form of this operator with these arguments."""


@dataclass(frozen=True)
class UnsupportedNode:
    """One node that cannot be imported."""

    node: str  # its name in the FX graph
    operator: str  # such as "aten.nonzero.default"
    reason: str
    place: str  # the line of the model that it comes from, "" where FX does not know

    def __str__(self):
        at = f" ({self.place})" if self.place else ""
        return f"{self.node}: {self.operator}: {self.reason}{at}"


class UnsupportedOperator(Unsupported):
    """The graph has nodes that tunec cannot do; `nodes` names all of them."""

    def __init__(self, nodes):
        self.nodes = list(nodes)
        lines = "\n".join(f"  {node}" for node in self.nodes)
        super().__init__(f"{len(self.nodes)} unsupported node(s):\n{lines}")


def place_of(node):
    """The user's line that an FX node comes from: the innermost frame of its stack trace."""
    trace = node.meta.get("stack_trace") or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith("File ")]
    return frames[-1] if frames else ""


def first_line(error):
    """Returns an exception as one line: its type and the first line of its message."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
