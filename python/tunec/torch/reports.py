"""What became of the graphs that the backend was given."""
import weakref
from collections import deque
from dataclasses import dataclass

import torch

# Of the latest graphs. A program that compiles for ever must not grow.
_latest = deque(maxlen=256)


@dataclass(frozen=True)
class GraphReport:
    """One graph of AOTAutograd: `kind` is inference, forward or backward. Reports outlive graphs, and
    hold nothing of them."""

    kind: str
    compiled: int  # how many parts are tunec's
    left: list  # what stays in torch because tunec cannot do it, with reasons; it may grow
    _partitions: weakref.ref

    @property
    def partitions(self):
        """The graph's Partitions, as long as somebody has it; then None."""
        return self._partitions()

    def __str__(self):
        lines = [f"{self.kind} graph: {self.compiled} compiled part(s), {len(self.left)} node(s) left to torch"]
        return "\n".join(lines + [f"  {node}" for node in self.left])


@dataclass(frozen=True)
class Explanation:
    """Of one call: the graphs, and why Dynamo broke the function into several."""

    graphs: list
    breaks: list

    def __str__(self):
        lines = [f"{len(self.graphs)} graph(s), {len(self.breaks)} graph break(s)"]
        lines += [f"break: {reason}" for reason in self.breaks]
        return "\n".join(lines + [str(graph) for graph in self.graphs])


def record(kind, partitions):
    """Remembers what became of a graph."""
    _latest.append(GraphReport(kind, len(partitions.compiled), partitions.left,
                               weakref.ref(partitions)))


def latest():
    """The reports of the latest graphs, the oldest first."""
    return list(_latest)


def explain(function, *args, options=None, **kwargs):
    """Compiles and calls `function`, and says what became of it."""
    from torch._dynamo import explain as explain_breaks
    breaks = explain_breaks(function)(*args, **kwargs)
    torch._dynamo.reset()
    _latest.clear()
    torch.compile(function, backend="tunec", options=options)(*args, **kwargs)
    return Explanation(list(_latest), [str(reason.reason) for reason in breaks.break_reasons])
