"""The result of an import: text, weights, and how inputs and outputs map to the FX graph."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._held import held
from .._options import options_json
from .sizes import Conditions

if TYPE_CHECKING:
    import torch

    from .._native import Executable, Graph

    Order = tuple[int, ...] | None
    Weights = dict[str, torch.Tensor] | dict[str, tuple[str, torch.Tensor]]  # see import_graph


@dataclass(frozen=True)
class Port:
    """An input or an output, with name in the text, type, and source in the FX graph."""

    name: str
    element: str
    shape: tuple[int, ...]
    source: str  # placeholder of an input, FX node of an output
    order: Order = None  # dimensions in memory order; None: row-major


@dataclass(frozen=True)
class Fixed:
    """An output that is not a tensor: None, or a number that was fixed at import."""

    value: object


@dataclass
class ImportedGraph:
    """A graph of the compiler, and the mapping by which it runs instead of the FX graph.

    If a port has an order, the text has the port's dimensions in that order.

    `outputs`: the tensor outputs of the FX graph in their order, then the mutations.
    `results`: for each output of the FX graph, the index of an output, or Fixed.
    `mutations`: from an output's name to the name of the input that it replaces after the run.
    `aliases`: from an output's name to the input that the output equals or is a view of.
    `nameless`: the computation and the keys of its weights (see GraphBuilder.nameless).
    `borrowed`: addresses of weights that other code may write.
    `conditions`: the conditions under which the graph is valid for named sizes. Shapes of ports then contain Sizes.
    `reads`: for each input, the index of an argument and its order, set at first use (sized.py).
    """

    built: Graph
    weights: dict[str, torch.Tensor]
    inputs: list[Port]
    outputs: list[Port]
    results: list[int | Fixed]
    mutations: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    nameless: tuple[str, list[str]] = ("", [])
    borrowed: frozenset[int] = frozenset()
    conditions: Conditions = field(default_factory=lambda: Conditions({}))
    reads: list[tuple[int, Order]] | None = None

    @property
    def text(self) -> str:
        """The text of the graph, which names the keys of the weights."""
        return self.built.text()

    def compile(self, *, progress: Any = None, log: Any = None, **options: Any) -> Executable:
        """Compiles the graph. The arguments are those of tunec.compile."""
        return self.built.compile(held(self.weights), options_json(options), progress, log)
