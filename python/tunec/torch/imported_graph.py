"""An imported torch graph: its text, its weights, and the mapping of inputs and outputs."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Port:
    """An input or an output: its name in the text, its type, and its source in the FX graph."""

    name: str
    element: str
    shape: tuple
    source: str  # placeholder of an input, FX node of an output
    order: tuple = None  # dimensions in memory order; None: row-major


@dataclass(frozen=True)
class Fixed:
    """An output that is not a tensor: None, or a number that was fixed at import."""

    value: object


@dataclass
class ImportedGraph:
    """A graph, and the mapping by which it runs instead of the FX graph.

    If a port has an order, the text has the port's dimensions in that order.

    `outputs`: the tensor outputs of the FX graph in their order, then the mutations.
    `results`: for each output of the FX graph, the index of an output, or Fixed.
    `mutations`: from an output's name to the name of the input that it replaces after the run.
    `aliases`: from an output's name to the input that the output equals or is a view of.
    `nameless`: the computation and the keys of its weights (see graph_text.nameless).
    `borrowed`: addresses of weights that other code may write.
    `reads`: for each input, the index of an argument and its order, set at first use (sized.py).
    """

    text: str
    weights: dict
    inputs: list
    outputs: list
    results: list
    mutations: dict = field(default_factory=dict)
    aliases: dict = field(default_factory=dict)
    nameless: tuple = ("", [])
    borrowed: frozenset = frozenset()
    reads: list = None
