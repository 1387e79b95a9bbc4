"""Reports on the graphs that the backend received."""
from __future__ import annotations

import warnings
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .._errors import NotCompiledWarning
from .errors import UnsupportedNode

if TYPE_CHECKING:
    from .partitions import Partitions

# Reports of the latest graphs. Their number is limited for processes that compile new graphs all
# the time.
_latest: deque[GraphReport] = deque(maxlen=256)
_skipped: deque[SkippedFunction] = deque(maxlen=256)


@dataclass(frozen=True)
class GraphReport:
    """The report of one AOTAutograd graph: `kind` is inference, forward or backward. Reports do not
    keep graphs alive."""

    kind: str
    compiled: int  # number of parts that tunec compiled
    left: list[UnsupportedNode]  # nodes that torch runs, with reasons; may grow
    _partitions: weakref.ref[Partitions]

    @property
    def partitions(self) -> Partitions | None:
        """The graph's Partitions while the graph exists, else None."""
        return self._partitions()

    def __str__(self) -> str:
        lines = [f"{self.kind} graph: {self.compiled} compiled part(s), {len(self.left)} node(s) left to torch"]
        return "\n".join(lines + [f"  {node}" for node in self.left])


@dataclass(frozen=True)
class SkippedFunction:
    """A function that Dynamo does not compile. torch runs it eagerly."""

    function: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"tunec compiles nothing of {self.function}: {self.reason}. Remedy: {self.remedy}."


@dataclass(frozen=True)
class Explanation:
    """The report of one call: its graphs, the reasons for graph breaks, and skipped functions."""

    graphs: list[GraphReport]
    breaks: list[str]
    skipped: list[SkippedFunction]

    def __str__(self) -> str:
        lines = [f"{len(self.graphs)} graph(s), {len(self.breaks)} graph break(s), "
                 f"{len(self.skipped)} skipped function(s)"]
        lines += [f"skipped: {function}" for function in self.skipped]
        lines += [f"break: {reason}" for reason in self.breaks]
        return "\n".join(lines + [str(graph) for graph in self.graphs])


def record(kind: str, partitions: Partitions) -> None:
    """Records the report of a graph."""
    _latest.append(GraphReport(kind, len(partitions.compiled), partitions.left,
                               weakref.ref(partitions)))


def record_skipped(function: SkippedFunction) -> None:
    """Records a function that Dynamo does not compile."""
    _skipped.append(function)


def latest() -> list[GraphReport]:
    """Returns the reports of the latest graphs, the oldest first."""
    return list(_latest)


def explain(function: Callable[..., object], *args: object, options: dict[str, Any] | None = None,
            **kwargs: object) -> Explanation:
    """Calls `function` twice, first to find graph breaks, then compiled by tunec. Returns an
    Explanation. Resets Dynamo and removes all earlier reports."""
    from torch._dynamo import config
    from torch._dynamo import explain as explain_breaks
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
