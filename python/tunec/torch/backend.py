"""Implements torch.compile(backend="tunec"): compiles Dynamo's graphs, traced by AOTAutograd."""
import contextlib
import copy
import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .._errors import InvalidArgument
from .decompose import aot_decompositions
from .dynamo import tell_of_left, watch
from .frozen import FrozenWeights
from .graph_cache import cached_graphs, caching_compiler, can_be_cached
from .layouts import Layout, layouts_of, report_strides, saved_outputs, take_strides, with_strides
from .left_part import REJECTIONS, LeftPart
from .own_decompositions import own_rules
from .partitions import partition
from .reports import record
from .sized import SizedGraph, with_defaults
from .updates import updates_of


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Disables Python's cycle collector. It would traverse all of torch's long-lived objects again
    and again, which costs a third of the time to load a cached graph (decision 0044)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# Options for each mode of torch.compile. CUDA graphs are recorded in every mode.
_MODES: dict[str | None, dict[str, Any]] = {
    None: {}, "default": {}, "max-autotune": {"trials": 200}, "reduce-overhead": {},
    "max-autotune-no-cudagraphs": {"trials": 200}}


def _options_of(options: Mapping[str, Any] | None, mode: str | None) -> dict[str, Any]:
    if mode not in _MODES:
        raise InvalidArgument(f"the mode {mode!r}, expected one of {', '.join(filter(None, _MODES))}")
    return with_defaults({**_MODES[mode], **(options or {})})


@_collector_paused()
def tunec(module: fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None,
          mode: str | None = None) -> Callable[..., Any]:
    """The backend of torch.compile. The modes "max-autotune" and "max-autotune-no-cudagraphs" set
    200 trials unless the options set another number. `options` are those of tunec.compile by name,
    and

    background  True: run in torch until a thread has compiled the code. Default: False
    freeze      True: without gradients, compile weights in and pack them at the first call
                (frozen.py). Default: False, each call reads the weights in place
    """
    options = _options_of(options, mode)
    switches = {name: options.pop(name, False) for name in ("background", "freeze")}

    def run_of(graph: fx.GraphModule, kind: str, indices: Sequence[int]) -> Callable[..., Any]:
        return _Compiled(graph, kind, indices, options, **switches).boxed()

    def compiler(kind: str) -> Callable[..., Any]:
        def compiled(graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
            take_strides(graph, inputs)
            return run_of(graph, kind, _static_indices() if kind == "inference" else ())
        return compiled

    aot = {"decompositions": aot_decompositions(), "keep_inference_input_mutations": True}
    if not can_be_cached(example_inputs):
        backend = aot_autograd(fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                               inference_compiler=compiler("inference"), **aot)
        with own_rules():
            return backend(module, example_inputs)

    def run_of_cached(graph: fx.GraphModule, indices: Sequence[int]) -> Callable[..., Any]:
        return run_of(graph, "inference", indices)

    with cached_graphs(run_of_cached), own_rules():
        forward_compiler = caching_compiler(run_of_cached, _static_indices)
        backend = aot_autograd(fw_compiler=forward_compiler, bw_compiler=compiler("backward"), **aot)
        return backend(module, example_inputs)


def _static_indices() -> tuple[int, ...]:
    """Returns the indices of arguments that AOTAutograd marks as parameters and buffers."""
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return ()
    return tuple(context.fw_metadata.static_input_indices or ())


class _Compiled:
    """One compiled graph. Without `freeze`, every argument, weights included, is read in place at
    each call. With `freeze`, the weights of the first call are compiled in: their values are not
    available before."""

    def __init__(self, graph: fx.GraphModule, kind: str, static_indices: Sequence[int],
                 options: Mapping[str, Any], background: bool, freeze: bool) -> None:
        self._options = options
        self._background = background
        # Partitioning rewrites the graph, so a copy of the nodes is made, which torch runs until
        # the code is ready.
        self._original: Any = fx.GraphModule(graph, copy.deepcopy(graph.graph)) if background else None
        with unset_fake_temporarily():  # constants are computed on real tensors
            self._parts = partition(graph)
        self._graph = self._parts.module
        # In background mode, torch runs the graph first, so results must have torch's layouts.
        saved = {} if background else saved_outputs(self._graph, kind)
        self._layouts = {name: layouts_of(self._graph.get_submodule(name), saved.get(name, ()))
                         for name in self._parts.compiled}
        report_strides(self._graph, self._layouts)
        self._updates = updates_of(self._graph)
        self._names = [node.name for node in self._graph.graph.find_nodes(op="placeholder")]
        # Parameters and buffers that the graph does not write.
        self._unwritten = {i for i in static_indices if not _is_changed(self._graph, self._names[i])}
        self._weights = FrozenWeights(sorted(self._unwritten) if freeze else (), self._install)
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        record(kind, self._parts)
        tell_of_left(self._parts.left, (__file__, 1))

    def boxed(self) -> Callable[..., Any]:
        """Returns the function that AOTAutograd calls with a list. The function empties the
        list."""
        def run(arguments: list[Any]) -> Any:
            values = list(arguments)
            arguments.clear()
            return self(values)
        run._boxed_call = True  # type: ignore[attr-defined]  # an attribute that AOTAutograd reads
        return run

    def __call__(self, values: Sequence[Any]) -> Any:
        self._weights.follow(values)
        if self._background and not self._ready.is_set():
            return self._eagerly(values)
        if self._failure is not None:
            raise self._failure
        with torch.no_grad():
            return self._graph(*values)

    def _install(self, frozen: Mapping[int, torch.Tensor], values: Sequence[Any]) -> None:
        """Replaces each part by a _Part with a SizedGraph. `frozen` maps argument indices to
        weights."""
        weights = {self._names[i]: weight for i, weight in frozen.items()}
        self._ready.clear()
        for node in self._graph.graph.find_nodes(op="call_module"):
            part = self._graph.get_submodule(node.target)
            part = part.module if isinstance(part, _Part) else part
            inner = [n.name for n in part.graph.find_nodes(op="placeholder")]
            given = {name: weights[argument.name] for name, argument in zip(inner, node.args)
                     if argument.name in weights}
            fallback = LeftPart(part, node.target, self._options, self._parts.left)
            part = _Part(part, given, self._updates.get(node.target), self._options,
                         self._layouts[node.target], fallback)
            self._graph.add_submodule(node.target, part)
        if self._background:
            # The thread is not a daemon: a daemon in C++ code at interpreter exit aborts the
            # process.
            self._thread = threading.Thread(target=self._warm, args=(values,))
            self._thread.start()

    def _warm(self, values: Sequence[Any]) -> None:
        """Compiles by running once on copies, so that only the run in torch changes the
        arguments."""
        try:
            copies = [v.clone() if isinstance(v, torch.Tensor) and i not in self._unwritten else v
                      for i, v in enumerate(values)]
            with torch.no_grad():
                self._graph(*copies)
        except Exception as failure:  # raised by the next call, in its thread
            self._failure = failure
        self._ready.set()

    def _eagerly(self, values: Sequence[Any]) -> Any:
        with torch.no_grad():
            return self._original(*values)


class _Part(torch.nn.Module):
    """A compiled part of a graph, as a submodule."""

    def __init__(self, module: fx.GraphModule, weights: dict[str, torch.Tensor],
                 updates: Mapping[int, str] | None, options: Mapping[str, Any], layouts: Sequence[Layout],
                 fallback: LeftPart) -> None:
        super().__init__()
        object.__setattr__(self, "module", module)
        self._fallback = fallback
        orders = {number: layout.order for number, layout in enumerate(layouts)
                  if layout.order is not None}
        self.graph = SizedGraph(module, weights, None, updates, options, orders)
        self._strides = [layout.strides for layout in layouts]
        self._is_single = not isinstance(module.graph.output_node().args[0], (tuple, list))

    def forward(self, *arguments: Any) -> Any:
        results = [with_strides(result, strides)
                   for result, strides in zip(self._results(arguments), self._strides)]
        return results[0] if self._is_single else tuple(results)

    def _results(self, arguments: Sequence[Any]) -> list[Any]:
        if not self._fallback.takes(arguments):
            try:
                return self.graph(*arguments)
            except REJECTIONS as rejection:
                self._fallback.take(arguments, rejection)
        return self._fallback.run(arguments)


def _is_changed(graph: fx.GraphModule, name: str) -> bool:
    """Tests if the graph writes the placeholder `name`."""
    node = next(n for n in graph.graph.find_nodes(op="placeholder") if n.name == name)
    return any(user.target is torch.ops.aten.copy_.default and user.args[0] is node
               for user in node.users)


watch(tunec)
