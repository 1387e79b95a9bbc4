"""What became of the graphs that the backend was given."""
import warnings
import weakref
from collections import deque
from dataclasses import dataclass

import torch

from .._errors import NotCompiledWarning

# Of the latest graphs. A program that compiles for ever must not grow.
_latest = deque(maxlen=256)
_skipped = deque(maxlen=256)


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
class SkippedFunction:
    """A function that Dynamo makes no graph of. Torch runs it as if it were not compiled."""

    function: str
    reason: str
    remedy: str

    def __str__(self):
        return f"tunec compiles nothing of {self.function}: {self.reason}. Remedy: {self.remedy}."


@dataclass(frozen=True)
class Explanation:
    """Of one call: the graphs, why Dynamo broke the function into several, and what it skipped."""

    graphs: list
    breaks: list
    skipped: list

    def __str__(self):
        lines = [f"{len(self.graphs)} graph(s), {len(self.breaks)} graph break(s), "
                 f"{len(self.skipped)} skipped function(s)"]
        lines += [f"skipped: {function}" for function in self.skipped]
        lines += [f"break: {reason}" for reason in self.breaks]
        return "\n".join(lines + [str(graph) for graph in self.graphs])


def record(kind, partitions):
    """Remembers what became of a graph."""
    _latest.append(GraphReport(kind, len(partitions.compiled), partitions.left,
                               weakref.ref(partitions)))


def record_skipped(function):
    """Remembers a function that Dynamo makes no graph of."""
    _skipped.append(function)


def latest():
    """The reports of the latest graphs, the oldest first."""
    return list(_latest)


def explain(function, *args, options=None, **kwargs):
    """Compiles and calls `function`, and says what became of it."""
    from torch._dynamo import config, explain as explain_breaks
    with config.patch(allow_rnn=True):  # dynamo.py does the same for the backend
        breaks = explain_breaks(function)(*args, **kwargs)
    torch._dynamo.reset()
    _latest.clear()
    _skipped.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiledWarning)
        torch.compile(function, backend="tunec", options=options)(*args, **kwargs)
    reasons = [str(reason.reason) for reason in breaks.break_reasons]
    return Explanation(list(_latest), reasons, list(_skipped))
