"""torch.compile(backend="tunec"): graphs of Dynamo, through AOTAutograd, as executables."""
import contextlib
import copy
import gc
import threading

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .decompose import aot_decompositions
from .graph_cache import kept_graphs, keeping_compiler, may_be_kept
from .layouts import layouts_of, report_strides, saved_outputs, take_strides, with_strides
from .partitions import partition
from .reports import record
from .sized import SizedGraph, with_defaults
from .updates import updates_of

# Weights that changed this often are no weights: from then on they are inputs.
MOST_CHANGES = 2


@contextlib.contextmanager
def _collector_paused():
    """Without Python's collector of cycles. Graphs are many objects that stay, for which it would look
    through all of torch's again and again: a third of the time of a graph that is kept (0044)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_collector_paused()
def tunec(module, example_inputs, *, options=None, mode=None):
    """The backend. `options`: those of tunec.compile by their names, and

    background  True: run in torch until the code is ready, which a thread compiles (default: False)
    """
    options = with_defaults(options or {})
    background = options.pop("background", False)

    def run_of(graph, kind, places):
        return _Compiled(graph, kind, places, options, background).boxed()

    def compiler(kind):
        def compiled(graph, inputs):
            take_strides(graph, inputs)
            return run_of(graph, kind, _static_places() if kind == "inference" else ())
        return compiled

    aot = {"decompositions": aot_decompositions(), "keep_inference_input_mutations": True}
    if not may_be_kept(example_inputs):
        backend = aot_autograd(fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                               inference_compiler=compiler("inference"), **aot)
        return backend(module, example_inputs)

    def run_of_kept(graph, places):
        return run_of(graph, "inference", places)

    with kept_graphs(run_of_kept):
        kept = keeping_compiler(run_of_kept, _static_places)
        backend = aot_autograd(fw_compiler=kept, bw_compiler=compiler("backward"), **aot)
        return backend(module, example_inputs)


def _static_places():
    """The arguments that AOTAutograd knows to be parameters and buffers of the model."""
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return ()
    return tuple(context.fw_metadata.static_input_indices or ())


class _Compiled:
    """One graph. Weights are fixed when it is first called, for it is then that they are seen."""

    def __init__(self, graph, kind, static_places, options, background):
        self._options = options
        self._background = background
        # Partitioning rewrites the graph; what runs meanwhile is a copy of its nodes.
        self._original = fx.GraphModule(graph, copy.deepcopy(graph.graph)) if background else None
        with unset_fake_temporarily():  # constants are computed with
            self._parts = partition(graph)
        self._graph = self._parts.module
        # What runs in torch meanwhile returns what torch would.
        saved = {} if background else saved_outputs(self._graph, kind)
        self._layouts = {name: layouts_of(self._graph.get_submodule(name), saved.get(name, ()))
                         for name in self._parts.compiled}
        report_strides(self._graph, self._layouts)
        self._updates = updates_of(self._graph)
        self._names = [node.name for node in self._graph.graph.find_nodes(op="placeholder")]
        self._static = [i for i in static_places if not _is_changed(self._graph, self._names[i])]
        self._marks = None
        self._changes = 0
        self._ready = threading.Event()
        self._thread = None
        self._failure = None
        record(kind, self._parts)

    def boxed(self):
        """The function that AOTAutograd calls: with a list, which is emptied."""
        def run(arguments):
            values = list(arguments)
            arguments.clear()
            return self(values)
        run._boxed_call = True
        return run

    def __call__(self, values):
        if self._marks is None or self._marks != self._mark(values):
            self._fix(values)
        if self._background and not self._ready.is_set():
            return self._eagerly(values)
        if self._failure is not None:
            raise self._failure
        with torch.no_grad():
            return self._graph(*values)

    def _mark(self, values):
        """What tells whether the weights are what they were."""
        return [(values[i].data_ptr(), _version(values[i])) for i in self._static]

    def _fix(self, values):
        if self._marks is not None:
            self._changes += 1
            if self._changes > MOST_CHANGES:
                self._static = []
        self._marks = self._mark(values)
        weights = {self._names[i]: values[i] for i in self._static}
        self._ready.clear()
        self._install(weights)
        if self._background:
            # No daemon: those that compile when the interpreter ends are torn out of C++, which aborts.
            self._thread = threading.Thread(target=self._warm, args=(values,))
            self._thread.start()

    def _install(self, weights):
        """Puts a SizedGraph in the place of each part."""
        for node in self._graph.graph.find_nodes(op="call_module"):
            part = self._graph.get_submodule(node.target)
            part = part.module if isinstance(part, _Part) else part
            inner = [n.name for n in part.graph.find_nodes(op="placeholder")]
            given = {name: weights[argument.name] for name, argument in zip(inner, node.args)
                     if argument.name in weights}
            part = _Part(part, given, self._updates.get(node.target), self._options,
                         self._layouts[node.target])
            self._graph.add_submodule(node.target, part)

    def _warm(self, values):
        """Compiles by running once, on copies, so that what a run changes is changed by torch alone."""
        try:
            copies = [v.clone() if isinstance(v, torch.Tensor) and i not in self._static else v
                      for i, v in enumerate(values)]
            with torch.no_grad():
                self._graph(*copies)
        except Exception as failure:  # raised by the next call, in its thread
            self._failure = failure
        self._ready.set()

    def _eagerly(self, values):
        with torch.no_grad():
            return self._original(*values)


class _Part(torch.nn.Module):
    """A compiled submodule."""

    def __init__(self, module, weights, updates, options, layouts):
        super().__init__()
        object.__setattr__(self, "module", module)
        orders = {number: layout.order for number, layout in enumerate(layouts)
                  if layout.order is not None}
        self.graph = SizedGraph(module, weights, None, updates, options, orders)
        self._strides = [layout.strides for layout in layouts]
        self._is_single = not isinstance(module.graph.output_node().args[0], (tuple, list))

    def forward(self, *arguments):
        results = [with_strides(result, strides)
                   for result, strides in zip(self.graph(*arguments), self._strides)]
        return results[0] if self._is_single else tuple(results)


def _is_changed(graph, name):
    """Whether the graph writes a placeholder."""
    node = next(n for n in graph.graph.find_nodes(op="placeholder") if n.name == name)
    return any(user.target is torch.ops.aten.copy_.default and user.args[0] is node
               for user in node.users)


def _version(tensor):
    # Tensors of inference mode do not count their changes.
    return 0 if tensor.is_inference() else tensor._version
