"""Errors of an import, and the texts of their messages."""
from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._errors import Unsupported

if TYPE_CHECKING:
    from torch import fx


class Rejected(Exception):
    """Raised by a handler: tunec does not support the operator with these arguments."""


@dataclass(frozen=True)
class UnsupportedNode:
    """One node that cannot be imported."""

    node: str  # its name in the FX graph
    operator: str  # such as "aten.nonzero.default"
    reason: str
    location: str  # line of the model, "" if unknown

    def __str__(self) -> str:
        at = f" ({self.location})" if self.location else ""
        return f"{self.node}: {self.operator}: {self.reason}{at}"

    @property
    def place(self) -> str:
        """Returns `location`, by its name of version 0.1. Warns of the deprecation."""
        warnings.warn("UnsupportedNode.place is now UnsupportedNode.location", DeprecationWarning, stacklevel=2)
        return self.location


class UnsupportedOperator(Unsupported):
    """The graph has nodes that tunec does not support; `nodes` lists all of them."""

    def __init__(self, nodes: Iterable[UnsupportedNode]) -> None:
        self.nodes = list(nodes)
        lines = "\n".join(f"  {node}" for node in self.nodes)
        super().__init__(f"{len(self.nodes)} unsupported node(s):\n{lines}")


def source_line_of(node: fx.Node) -> str:
    """Returns the user's line of an FX node: the innermost frame of its stack trace."""
    trace = node.meta.get("stack_trace") or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith("File ")]
    return frames[-1] if frames else ""


def first_line(error: BaseException) -> str:
    """Returns an exception as one line: its type and the first line of its message."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
