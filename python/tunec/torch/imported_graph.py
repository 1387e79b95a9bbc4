"""A graph of torch's as it is imported: its text, and what has to be known to run it."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Port:
    """An input or an output: its name in the text, its type, and what it stands for."""

    name: str
    element: str
    shape: tuple
    source: str  # the placeholder of an input; what an output is (see ImportedGraph)
    order: tuple = None  # its dimensions as they lie in memory; None: row-major


@dataclass(frozen=True)
class Fixed:
    """An output that is no tensor: None, or a number that was known when importing."""

    value: object


@dataclass
class ImportedGraph:
    """A graph and what has to be known to run it in the place of the FX graph.

    Where a port has an order, the text has its dimensions in that order.

    `outputs` are those of the FX graph that are tensors, in their order, then the mutations.
    `results` has an entry for each of the FX graph's outputs: the number of an output, or Fixed.
    `mutations`: for the name of an output, the name of the input that it replaces after the run.
    `aliases`: for the name of an output, the name of the input that it is, or is a view of.
    `nameless`: what it computes, and the keys of its weights (see graph_text.nameless).
    `borrowed`: the addresses of those weights that others may write.
    `reads`: for each input the number of an argument and its order, once somebody asked (sized.py).
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
