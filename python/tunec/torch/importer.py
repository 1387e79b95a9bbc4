"""Imports an FX graph of ATen operators as a graph of the text form."""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from . import operators  # noqa: F401  registers the handlers
from .address_reads import is_row_major, nodes_with_unreliable_strides, reads_by_address
from .builder import GraphBuilder, Value
from .element_types import element_type
from .errors import Rejected, UnsupportedNode, UnsupportedOperator, first_line, source_line_of
from .handler_table import Call, bind, handler_of
from .imported_graph import ImportedGraph
from .ports import add_output, arguments_of
from .sizes import Conditions, NeedsNumber, Size, SizeNumber, numbers_of, symbol

if TYPE_CHECKING:
    from .imported_graph import Order, Weights

    Imported = tuple[ImportedGraph | None, list[UnsupportedNode]]  # the graph, or the nodes

# Operators that are not imported, because they only check or mark values for torch.
_IGNORED = ("_assert_scalar", "_assert_tensor_metadata", "_assert_async", "sym_constrain_range",
            "sym_constrain_range_for_size", "_functional_assert_async", "_functional_assert_scalar")
# Operators that contain a graph, which is imported in place. The number is the index of the
# argument that is the graph.
_REGIONS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4, "wrap_set_grad_enabled": 1}


class Importer:
    """A walk over a graph, which adds its operators to a GraphBuilder. A node that cannot be
    imported is recorded, and new inputs replace its results. One walk therefore finds all
    unsupported nodes.

    sizes         a number for each symbolic size, or a name that it has in the text
    example       numbers by name, for sizes with a name
    beside_torch  True: torch can run the rejected nodes (see Call)
    name          the graph's name
    """

    def __init__(self, sizes: Mapping[str, int | str], beside_torch: bool = False,
                 example: Mapping[str, int] | None = None, name: str = "model") -> None:
        self.conditions = Conditions(example or {})
        self.graph = GraphBuilder(self.conditions, name)
        self.unsupported: list[UnsupportedNode] = []
        self._sizes = sizes
        self._beside_torch = beside_torch
        self._known: dict[Any, Any] = {}  # numbers and Sizes by expression

    def size(self, value: Any) -> Any:
        """Returns the number of a SymInt, or a Size if it contains named sizes. Returns a SizeNumber
        for a SymFloat, and other values unchanged. Raises Rejected if a symbol is no known size, and
        for booleans made of sizes."""
        if isinstance(value, torch.SymFloat) and self._knows(value.node.expr):
            return SizeNumber(self._named(value.node.expr))
        if isinstance(value, (torch.SymFloat, torch.SymBool)):
            raise Rejected(f"a number that is made of sizes and is no whole one: {value.node.expr}")
        if not isinstance(value, torch.SymInt):
            return value
        expression = value.node.expr
        if expression not in self._known:
            self._known[expression] = self._number_of(expression)
        return self._known[expression]

    def _number_of(self, expression: Any) -> Any:
        return self.conditions.size(self._named(expression))

    def _knows(self, expression: Any) -> bool:
        return all(str(s) in self._sizes for s in expression.free_symbols)

    def _named(self, expression: Any) -> Any:
        """Returns an expression of torch with the numbers and names of its symbols."""
        known = {s: self._sizes[str(s)] for s in expression.free_symbols if str(s) in self._sizes}
        return expression.subs({s: symbol(size) if isinstance(size, str) else size
                                for s, size in known.items()}, simultaneous=True)

    def _shapes(self, meta: Any) -> Any:
        """Returns the shape of a fake tensor with numbers and Sizes, or a list of shapes."""
        if isinstance(meta, (tuple, list)):
            return [self._shapes(m) for m in meta]
        return tuple(self.size(s) for s in meta.shape) if isinstance(meta, torch.Tensor) else ()

    def _fixed(self, meta: Any) -> Any:
        """Returns fake tensors on the meta device with numbers for all sizes, for handlers."""
        if isinstance(meta, (tuple, list)):
            return [self._fixed(m) for m in meta]
        if isinstance(meta, torch.Tensor):
            return torch.empty(numbers_of(self._shapes(meta)), dtype=meta.dtype, device="meta")
        return self.size(meta)

    def placeholder(self, meta: Any, name: str, order: Order = None) -> Value:
        """Adds an input of the graph. `order`: its dimensions in memory order; None: row-major."""
        fixed = self._fixed(meta)
        element = element_type(fixed.dtype)
        if element is None:
            raise Rejected(f"an input of {fixed.dtype}")
        shape = self._shapes(meta)
        if order is None:
            return self.graph.input(name, element, shape)
        stored = self.graph.input(name, element, [shape[d] for d in order])
        return self.graph.emit("transpose", stored, perm=[order.index(d) for d in range(len(order))])

    def run(self, module: fx.GraphModule, arguments: Sequence[Any]) -> Any:
        """Returns the values of a graph's outputs. `arguments`: values of its placeholders, in
        order."""
        values, given = {}, iter(arguments)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
            elif node.op == "output":
                return fx.map_arg(node.args[0], lambda n: values[n])
            else:
                values[node] = self._node(module, node, values)
        raise AssertionError("a graph without an output node")

    def _node(self, module: fx.GraphModule, node: fx.Node, values: dict[fx.Node, Any]) -> Any:
        self.graph.hint = node.name
        try:
            if node.op == "get_attr":
                return self._attribute(module, node)
            args = self._plain(fx.map_arg(list(node.args), lambda n: values[n]))
            kwargs = self._plain(fx.map_arg(dict(node.kwargs), lambda n: values[n]))
            return self._call(module, node, args, kwargs)
        except Rejected as rejected:
            return self._leave(node, str(rejected))
        except NeedsNumber as reason:
            return self._leave(node, f"expected a fixed size: {reason}")
        except Exception as fault:  # a bug of a handler must not end the user's call
            return self._leave(node, f"the importer failed: {first_line(fault)}")

    def _leave(self, node: fx.Node, reason: str) -> Any:
        """Records a node that cannot be imported. Returns inputs that replace its results."""
        left = UnsupportedNode(node.name, _operator_name(node), reason, source_line_of(node))
        self.unsupported.append(left)
        return self._phantom(node.meta.get("val"))

    def _plain(self, argument: Any) -> Any:
        """Converts sequences to lists and symbolic numbers to numbers."""
        if isinstance(argument, (list, tuple)):
            return [self._plain(a) for a in argument]
        if isinstance(argument, dict):
            return {k: self._plain(a) for k, a in argument.items()}
        return self.size(argument)

    def _phantom(self, meta: Any) -> Any:
        """Returns an input of the right type as a replacement for a value that cannot be
        computed."""
        name = f"unsupported {len(self.graph.values)}"  # no name of an FX node has a space
        try:
            if isinstance(meta, (tuple, list)):
                return tuple(self._phantom(m) for m in meta)
            if isinstance(meta, torch.Tensor):
                return self.placeholder(meta, name)
            return self.size(meta)
        except Rejected:
            return self.graph.input(name, "f32", ())

    def _attribute(self, module: fx.GraphModule, node: fx.Node) -> Any:
        target = module
        for part in node.target.split("."):
            target = getattr(target, part)
        if isinstance(target, torch.Tensor):
            if target.numel() > 16:
                return self.graph.weight(node.target, target.detach().cpu().contiguous(), node.name)
            return self.graph.constant(target, node.name)
        return target  # a nested graph

    def _call(self, module: fx.GraphModule, node: fx.Node, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if node.op != "call_function":
            raise Rejected(f"{node.op} is not of ATen: export or decompose the module first")
        target = node.target
        if target is operator.getitem:
            return args[0][args[1]]
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self._region(target, args)
        if not _has_value(args) and not _has_value(kwargs) and not _makes_tensor(node):
            return self._number(node, target, args, kwargs)
        name = getattr(getattr(target, "_schema", None), "name", "").split("::")[-1]
        if name in _IGNORED:
            return None
        return self._operator(node, target, args, kwargs)

    def _number(self, node: fx.Node, target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Returns the result of arithmetic of sizes. Named sizes have an expression of torch."""
        meta = node.meta.get("val")
        leaves = pytree.tree_leaves((args, kwargs))
        if not any(isinstance(leaf, (Size, SizeNumber)) for leaf in leaves):
            return self.size(target(*args, **kwargs))
        return SizeNumber(self._named(meta.node.expr)) if isinstance(meta, torch.SymBool) else self.size(meta)

    def _operator(self, node: fx.Node, target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not isinstance(target, torch._ops.OpOverload):
            raise Rejected("no operator of ATen: export or decompose the module first")
        known = _of_sizes(target, args)
        if known is not None:
            return known
        handler = handler_of(target)
        if handler is None:
            raise Rejected(_why_not(target))
        if reads_by_address(node) and not _is_known_row_major(node.args[0]):
            raise Rejected("elements by their offsets, of a tensor that is not row-major")
        _reject_unknown_types(node)
        meta = node.meta["val"]
        call = Call(self.graph, target, self._fixed(meta), self._shapes(meta), _used_results(node),
                    self._beside_torch)
        if _is_empty(call):
            return _nothing(call)
        bound = bind(target, args, kwargs)
        keyword_only = {k: v for k, v in kwargs.items() if _keyword_only(handler, k)}
        bound = bound[:len(bound) - _keyword_count(handler, target)]
        try:
            result = handler(call, *bound, **keyword_only)
        except ValueError as error:
            raise Rejected(str(error)) from error
        self._check(node, call.result, call.shapes, result)
        return result

    def _check(self, node: fx.Node, meta: Any, shapes: Any, result: Any) -> None:
        """Compares a handler's result with the type and shape that torch has recorded. Raises
        AssertionError if they differ: the handler then has a bug."""
        if isinstance(meta, (tuple, list)):
            for m, shape, r in zip(meta, shapes, result, strict=True):
                self._check(node, m, shape, r)
        elif isinstance(result, Value) and isinstance(meta, torch.Tensor):
            expected = (element_type(meta.dtype), shapes)
            found = (result.element, result.shape)
            if expected != found:
                raise AssertionError(f"made {found}, expected {expected}")

    def _region(self, target: Any, args: list[Any]) -> Any:
        skipped = _REGIONS.get(target.name())
        if skipped is None:
            raise Rejected("nested graphs that run by a condition or again and again")
        module, *arguments = args[skipped:]
        return self.run(module, arguments)


def _is_known_row_major(node: fx.Node) -> bool:
    return is_row_major(node.meta["val"]) and not nodes_with_unreliable_strides(node)


def _reject_unknown_types(node: fx.Node) -> None:
    """Rejects operands of a type that the text lacks, such as complex numbers."""
    for source in node.all_input_nodes:
        for meta in pytree.tree_leaves(source.meta.get("val")):
            if isinstance(meta, torch.Tensor) and element_type(meta.dtype) is None:
                raise Rejected(f"a tensor of {meta.dtype}")


def _is_empty(call: Call) -> bool:
    """Tests if an operator makes only tensors without elements."""
    several = isinstance(call.result, (tuple, list))
    results = list(call.result) if several else [call.result]
    return bool(results) and all(
        isinstance(result, torch.Tensor) and any(size == 0 for size in call.shape(i))
        for i, result in enumerate(results))


def _nothing(call: Call) -> Any:
    """Returns results without elements; the operands of the call do not matter."""
    if not isinstance(call.result, (tuple, list)):
        return call.graph.full(call.shape(), 0, call.element())
    return tuple(call.graph.full(call.shape(i), 0, call.element(i))
                 for i in range(len(call.result)))


def _keyword_count(handler: Any, target: Any) -> int:
    """Counts the arguments at the end of a schema that the handler takes by name."""
    code = handler.__code__
    names = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    return sum(argument.name in names for argument in target._schema.arguments)


def _keyword_only(handler: Any, name: str) -> bool:
    code = handler.__code__
    return name in code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]


def _has_value(argument: Any) -> bool:
    if isinstance(argument, (list, tuple)):
        return any(_has_value(a) for a in argument)
    if isinstance(argument, dict):
        return any(_has_value(a) for a in argument.values())
    return isinstance(argument, Value)


def _used_results(node: fx.Node) -> frozenset[Any] | None:
    """Returns the indices of results that are read, for a node with several results. Returns None
    if the node is read as a whole."""
    if any(user.target is not operator.getitem for user in node.users):
        return None
    return frozenset(user.args[1] for user in node.users if user.users)


def _makes_tensor(node: fx.Node) -> bool:
    meta = node.meta.get("val")
    return isinstance(meta, torch.Tensor) or isinstance(meta, (tuple, list))


def _of_sizes(target: Any, args: list[Any]) -> Any:
    """Returns what sym_size or a similar operator reads from a tensor. Returns None for other
    operators."""
    name = target._schema.name.split("::")[-1]
    if name == "sym_size" and len(args) == 2:
        return args[0].shape[args[1]]
    if name == "sym_numel":
        return args[0].count
    if name == "sym_stride" and len(args) == 2:
        from .operators.shapes import dense_strides
        return dense_strides(args[0].shape)[args[1]]
    if name == "sym_storage_offset":
        return 0
    if name == "sym_is_contiguous":
        return True
    return None


def _why_not(target: Any) -> str:
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "random numbers"
    if torch.Tag.dynamic_output_shape in target.tags:
        return "the shape of its result depends on values"
    if torch.Tag.data_dependent_output in target.tags:
        return "a number that is read from a tensor while running"
    return "no operator of tunec does this"


def _operator_name(node: fx.Node) -> str:
    return str(node.target) if node.op == "call_function" else node.op


def import_graph(module: fx.GraphModule, *, weights: Weights | None = None,
                 sizes: Mapping[str, int | str] | None = None,
                 mutated: Sequence[str | None] | None = None,
                 orders: Mapping[int, tuple[int, ...]] | None = None, name: str = "model",
                 example: Mapping[str, int] | None = None) -> ImportedGraph:
    """Imports an FX GraphModule of functional ATen operators.

    `weights`: tensors by the names of the placeholders that are fixed to them, or pairs of a key
    and a tensor. Other placeholders are inputs.
    `sizes`: a number for each symbolic size ("s0"), or the name that it has in the text.
    `example`: numbers by name, for sizes with a name.
    `mutated`: for the first outputs, in order, the placeholder that each replaces after a run, or
    None. An exported program has its mutations there.
    `orders`: from an output's index to its dimensions in memory order, which is also their order in
    the text.
    Raises UnsupportedOperator with every node that cannot be imported.
    """
    importer = Importer(sizes or {}, example=example, name=name)
    imported, failed = _import(module, weights or {}, importer, mutated or [], orders or {})
    if imported is None:
        raise UnsupportedOperator(failed)
    return imported


def unsupported(module: fx.GraphModule, *, weights: Weights | None = None,
                sizes: Mapping[str, int] | None = None, beside_torch: bool = False) -> list[UnsupportedNode]:
    """Returns an UnsupportedNode for each node of a GraphModule that cannot be imported.

    `beside_torch`: torch can run the rejected nodes. Nodes for which torch would raise an error,
    but the compiled code would not, are then returned too."""
    importer = Importer(sizes or {}, beside_torch=beside_torch)
    return _import(module, weights or {}, importer, [], {})[1]


def _import(module: fx.GraphModule, weights: Mapping[str, Any], importer: Importer,
            mutated: Sequence[str | None], orders: Mapping[int, tuple[int, ...]]) -> Imported:
    # Backends are called under a mode that makes fake tensors; the import needs real ones.
    with _disable_current_modes():
        return _import_for_real(module, weights, importer, mutated, orders)


def _import_for_real(module: fx.GraphModule, weights: Mapping[str, Any], importer: Importer,
                     mutated: Sequence[str | None], orders: Mapping[int, tuple[int, ...]]) -> Imported:
    arguments, inputs = arguments_of(importer, module, weights)
    output_node = module.graph.output_node()
    results = importer.run(module, arguments)
    if importer.unsupported:
        return None, importer.unsupported
    results = pytree.tree_leaves(results)
    nodes = pytree.tree_leaves(output_node.args[0])
    mutated = list(mutated) + [None] * (len(results) - len(mutated))
    graph = ImportedGraph(importer.graph.built, importer.graph.weights, inputs, [], [])
    named: list[tuple[str, Value]] = []
    for i in [*_positions(mutated, False), *_positions(mutated, True)]:
        add_output(graph, named, importer, nodes[i], results[i], mutated[i], orders.get(i))
    # Puts `results` into the order of the FX graph's outputs.
    order = [*_positions(mutated, False), *_positions(mutated, True)]
    graph.results = [graph.results[order.index(i)] for i in range(len(order))]
    graph.conditions = importer.conditions
    try:
        importer.graph.finish(named)
        graph.nameless = importer.graph.nameless([value for _, value in named])
        graph.conditions.texts()
    except (Rejected, NeedsNumber) as rejected:  # a condition that has no text, or that is false
        return None, [UnsupportedNode(output_node.name, "output", str(rejected),
                                      source_line_of(output_node))]
    return graph, []


def _positions(mutated: Sequence[str | None], is_mutation: bool) -> list[int]:
    return [i for i, target in enumerate(mutated) if (target is not None) == is_mutation]
