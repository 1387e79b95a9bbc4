"""What became of the graphs that the backend was given."""
from collections import deque
from dataclasses import dataclass

import torch

# Of the latest graphs. A program that compiles for ever must not grow.
_latest = deque(maxlen=256)


@dataclass(frozen=True)
class GraphReport:
    """One graph of AOTAutograd: `kind` is inference, forward or backward."""

    kind: str
    partitions: object

    @property
    def compiled(self):
        """How many parts are tunec's."""
        return len(self.partitions.compiled)

    @property
    def left(self):
        """The nodes that stay in torch because tunec cannot do them, with reasons."""
        return self.partitions.left

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


def record(report):
    """Remembers what became of a graph."""
    _latest.append(report)


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
