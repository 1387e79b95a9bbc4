"""An FX graph with its executables: one for dynamic shapes, or one per set of sizes."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from .._errors import InvalidArgument, ParseError, Unsupported
from .._library import native
from .any_size import open_sizes, symbolic_sizes
from .devices import addresses_of, device_of, device_options, on_host
from .element_types import torch_dtype
from .errors import UnsupportedOperator
from .imported_graph import Fixed, ImportedGraph, Port
from .importer import import_graph
from .same_model import Model, find_model, models_made
from .same_text import compile_once
from .sizes import Check, Size, numbers_of, symbol
from .symbols import solve

if TYPE_CHECKING:
    from .imported_graph import Order, Weights

# Number of executables retained per graph. If there are more, the least recently used one is
# removed.
MOST_EXECUTABLES = 24


def with_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options with defaults for torch graphs: torch's number of threads, at most as many as
    the container allows, and a shared thread pool, since graphs run one after another."""
    threads = min(torch.get_num_threads(), native().processors())
    return {"threads": threads, "share_threads": True, **options}


class SizedGraph:
    """A GraphModule of ATen operators that is called with the values of its placeholders.

    weights  tensors by the names of placeholders that are fixed to them (see import_graph)
    mutated  for the first outputs, the placeholder that each replaces (see import_graph)
    updates  from an output's index to a placeholder, such as a cache. The output is written into
             the argument's memory if type, shape and layout are equal
    options  options of tunec.compile; a target in them takes precedence over the tensors' device
    orders   from an output's index to its dimensions in memory order (see import_graph)
    """

    def __init__(self, module: torch.fx.GraphModule, weights: Weights | None = None,
                 mutated: Sequence[str | None] | None = None, updates: Mapping[int, str] | None = None,
                 options: Mapping[str, Any] | None = None,
                 orders: Mapping[int, tuple[int, ...]] | None = None) -> None:
        self.module = module
        self._device = device_of(module)
        self.weights = on_host(weights or {})
        # Addresses of weights that other code may write.
        self._borrowed = addresses_of(weights or {}) & addresses_of(self.weights)
        self.mutated = mutated
        self.updates = updates or {}
        self.orders = orders or {}
        self.options = {**device_options(self._device), **(options or {})}
        self.placeholders = [node.name for node in module.graph.find_nodes(op="placeholder")]
        self._positions = {name: i for i, name in enumerate(self.placeholders)}
        self._sizes = symbolic_sizes(module.graph.find_nodes(op="placeholder"))
        self._open: Any = open_sizes(module)  # None: each size is compiled
        self._any_size: Any = None  # ImportedGraph for dynamic shapes
        self._check = Check([])  # conditions for the sizes of a run on the Model
        self._model: Model | None = None
        self._models_seen: int | None = None  # models_made() when the model was chosen
        self._executables: OrderedDict[tuple[int, ...], tuple[ImportedGraph, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def compiled(self, arguments: Sequence[Any]) -> tuple[ImportedGraph, Any]:
        """Returns the ImportedGraph and the Executable for the sizes of these arguments. For an
        Executable with dynamic shapes, the ImportedGraph has named sizes."""
        opened = self._open  # another thread may set it to None
        named = opened and self._named_sizes(opened, arguments)
        if named is not None and 0 not in named.values():  # padding cannot make sizes of 0
            found = self._compiled_for_any(named)
            if found is not None:
                return found
        sizes = tuple(_size_of(arguments[i], dimension) for _, i, dimension in self._sizes)
        with self._lock:
            found = self._executables.get(sizes)
            if found is not None:
                self._executables.move_to_end(sizes)
                return found
            found = self._executables[sizes] = self._compile(sizes)
            if len(self._executables) > MOST_EXECUTABLES:
                self._executables.popitem(last=False)
            return found

    def __call__(self, *arguments: Any) -> list[Any]:
        """Runs the graph. Returns a list of its results, then the new values of its mutations."""
        graph, executable = self.compiled(arguments)
        inputs = [as_input(arguments[position], order) for position, order in self._reads(graph)]
        if not graph.outputs:
            return [result.value for result in self._results(graph, arguments)]
        out = [None if inputs else as_stored(empty_output(port, self._device), port.order)
               for port in graph.outputs]
        given = self._given(graph, arguments)
        for number, tensor in given.items():
            out[number] = as_stored(tensor.detach(), graph.outputs[number].order)
        outputs = executable(*inputs, out=out)
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        outputs = [as_named(x, port.order) for x, port in zip(outputs, graph.outputs, strict=True)]
        for number, tensor in given.items():
            outputs[number] = tensor  # the tensor itself, so that torch copies nothing
        return [r.value if isinstance(r, Fixed) else outputs[r]
                for r in self._results(graph, arguments)]

    def _reads(self, graph: ImportedGraph) -> list[tuple[int, Order]]:
        """Returns the argument index and the order of each input of the executable."""
        if graph.reads is None:
            graph.reads = [(self._positions[port.source], port.order) for port in graph.inputs]
        return graph.reads

    def _results(self, graph: ImportedGraph, arguments: Sequence[Any]) -> Sequence[Any]:
        """Returns ImportedGraph.results. For dynamic shapes, numbers made of sizes are computed for
        these arguments."""
        if graph is not self._any_size or not any(isinstance(r, Fixed) for r in graph.results):
            return graph.results
        known: Any = self._open.all_symbols(self._named_sizes(self._open, arguments))
        nodes = pytree.tree_leaves(self.module.graph.output_node().args[0])
        return [Fixed(_evaluated(node, known, r.value)) if isinstance(r, Fixed) else r
                for node, r in zip(nodes, graph.results, strict=True)]

    def _named_sizes(self, opened: Any, arguments: Sequence[Any]) -> Any:
        return opened.of(lambda name: arguments[self._positions[name]].shape)

    def _compiled_for_any(self, named: Mapping[str, int]) -> tuple[ImportedGraph, Any] | None:
        """Returns the ImportedGraph and the Executable for dynamic shapes. Returns None if there is
        none for these sizes."""
        with self._lock:
            if self._open is not None and self._any_size is None:
                self._import_any(named)
            if self._open is None:
                return None
            if any(named[name] != named.get(tied, named[name]) for tied, name in self._open.ties.items()):
                return None
            named = {name: named[name] for name in self._open.names}
            graph = self._any_size
            if graph.outputs and self._models_seen != models_made():
                self._choose_model(named)
            if graph.outputs and (self._model is None or not self._check(named)):
                return None
            return graph, self._model and self._model.executable

    def _import_any(self, named: Mapping[str, int]) -> None:
        """Imports the graph with named sizes. Sets _open to None if a node needs a number instead.
        Sizes that must be equal get one name."""
        try:
            graph = self._import_named(named)
            ties = graph.conditions.ties()
            if ties:
                self._open = self._open.tied(ties)
                graph = self._import_named(named)
        except UnsupportedOperator:
            self._open = None
            return
        graph.outputs = [replace(port, shape=numbers_of(port.shape)) for port in graph.outputs]
        self._any_size = graph
        self._check = Check(graph.conditions.texts())

    def _import_named(self, example: Mapping[str, int]) -> ImportedGraph:
        return self._import_open({name: name for name in self._open.names}, example)

    def _choose_model(self, example: Mapping[str, int]) -> None:
        """Sets the Model of this graph: one of an equal graph if it exists, else a new one. If
        called again, a model with more dynamic dimensions may replace it."""
        fewest = len(self._open.names) + (0 if self._model is None else 1)
        found = find_model(fewest, self._any_size, example, self.options)
        if found is not None:
            self._model, conditions = found
            self._check = Check([*self._any_size.conditions.texts(), *conditions])
        elif self._model is None:
            try:
                executable = compile_once(self._any_size, self.options)
            except (InvalidArgument, ParseError, Unsupported):
                # An operator needs a number, or a size is beyond the limits of the compiler.
                self._open = None
                return
            weights = [w[1] if isinstance(w, tuple) else w for w in self.weights.values()]
            self._model = Model(self._open, self._any_size, self._import_open, weights, self.options,
                                executable)
        self._models_seen = models_made()

    def _import_open(self, sizes: Mapping[str, int | str], example: Mapping[str, int]) -> ImportedGraph:
        return self._import(self._open.all_symbols(sizes), example)

    def _import(self, sizes: Mapping[str, int | str],
                example: Mapping[str, int] | None = None) -> ImportedGraph:
        graph = import_graph(self.module, weights=self.weights, sizes=sizes, mutated=self.mutated,
                             orders=self.orders, example=example)
        graph.borrowed = self._borrowed
        return graph

    def _given(self, graph: ImportedGraph, arguments: Sequence[Any]) -> dict[int, torch.Tensor]:
        """Returns, by output index, the argument's tensor into which an output is written."""
        given = {}
        for result, placeholder in self.updates.items():
            number = graph.results[result]
            tensor = arguments[self._positions[placeholder]]
            if not isinstance(number, Fixed) and is_like(tensor, graph.outputs[number]):
                given[number] = tensor
        return given

    def _compile(self, sizes: tuple[int, ...]) -> tuple[ImportedGraph, Any]:
        named = solve([(size.node.expr, number)
                       for (size, *_), number in zip(self._sizes, sizes)])
        graph = self._import(named)
        if not graph.outputs:
            return graph, None
        return graph, compile_once(graph, self.options)


def _evaluated(node: object, known: Mapping[str, int], otherwise: Any) -> Any:
    """Returns a number among a graph's outputs: the value of its expression of sizes, else
    `otherwise`."""
    meta: Any = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    kinds = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
    if type(meta) not in kinds and isinstance(otherwise, Size):
        return int(otherwise.expression.subs({symbol(name): number for name, number in known.items()}))
    if type(meta) not in kinds:
        return otherwise
    expression = meta.node.expr
    return kinds[type(meta)](expression.subs({s: known[str(s)] for s in expression.free_symbols}))


# Through DLPack's table of C functions, torch also passes tensors that require gradients. `__dlpack__`
# rejects these tensors.
_TAKES_GRADIENTS = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


def as_input(tensor: torch.Tensor, order: Order) -> torch.Tensor:
    """Returns the tensor that a run reads for an argument: the argument itself if its order
    matches. A model has hundreds of weights, so this function must be fast."""
    if tensor.requires_grad and not _TAKES_GRADIENTS:
        tensor = tensor.detach()
    if order is None and tensor.is_contiguous():
        return tensor
    return as_stored(tensor.detach(), order)


def as_stored(tensor: torch.Tensor, order: Order) -> torch.Tensor:
    """Returns the tensor with its dimensions in memory order, contiguous."""
    stored = tensor if order is None else tensor.permute(order)
    return stored.contiguous()


def as_named(stored: torch.Tensor, order: Order) -> torch.Tensor:
    """Returns a view of a tensor in memory order with its dimensions in logical order."""
    return stored if order is None else stored.permute([order.index(d) for d in range(len(order))])


def is_like(tensor: torch.Tensor, port: Port) -> bool:
    """Tests if an output can be written directly into a tensor."""
    if tuple(tensor.shape) != tuple(port.shape) or tensor.dtype != torch_dtype(port.element):
        return False
    return (tensor if port.order is None else tensor.permute(port.order)).is_contiguous()


def _size_of(argument: Any, dimension: int | None) -> int:
    return argument if dimension is None else argument.shape[dimension]


def empty_output(port: Port, device: torch.device | str = "cpu") -> torch.Tensor:
    """Returns an uninitialized torch tensor for an output. Used for graphs without inputs, whose
    results would otherwise be NumPy arrays."""
    shape = port.shape if port.order is None else [port.shape[d] for d in port.order]
    return as_named(torch.empty(shape, dtype=torch_dtype(port.element), device=device), port.order)


def hinted_sizes(module: torch.fx.GraphModule) -> dict[str, int]:
    """Returns the numbers of a graph's symbols at which the graph was traced."""
    sizes = symbolic_sizes(module.graph.find_nodes(op="placeholder"))
    return solve([(size.node.expr, size.node.hint) for size, *_ in sizes if size.node.has_hint()])
