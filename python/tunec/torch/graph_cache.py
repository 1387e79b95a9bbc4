"""Graphs of AOTAutograd, kept between processes.

Tracing a graph of Dynamo's into one of ATen operators takes longer than all that comes after it, in
a process that finds its kernels in the database. torch has a cache for what AOTAutograd makes, which
knows when it may be reused; what is stored there for us is the traced graph alone, without weights.
Kernels stay in the database.

    Dynamo's graph -- AOTAutograd --> ATen graph -- backend.py --> runs
                         ^ what a hit spares

What torch stores is a pickle, and reading it runs code of whoever wrote it. So graphs are kept
in a folder that only the user can read (private_folder.py). Where it is not so, graphs are traced.

Only graphs without gradients, with known sizes and without effects (checks that torch orders by
tokens, as those of linalg) are kept: of a graph that it reads, torch's cache passes no tokens. Where torch has no such cache, or cannot
tell whether a graph may be reused, it is traced.
"""
import contextlib
import contextvars
import copy
import functools
import os
import warnings
from unittest import mock

import torch
from torch import fx
from torch._dynamo.utils import detect_fake_mode

from .._errors import NotCompiledWarning
from .handler_table import handled_names
from .private_folder import why_not_private

try:
    from torch._inductor.runtime.cache_dir_utils import cache_dir
    from torch._functorch import config as functorch_config
    from torch._functorch._aot_autograd import autograd_cache
    from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler
    from torch._inductor.codecache import FxGraphCache
    from torch._inductor.output_code import OutputCode
    from torch.fx._graph_pickler import GraphPickler, Options

    class _Details(autograd_cache.AOTAutogradCacheDetails):
        """What a graph's key is made of. torch's own has Inductor's settings in it, for which all of
        Inductor is loaded: that takes longer than most graphs' tracing."""

        def _init_fx_graph_hash_details(self, gm, example_inputs, fx_config):
            FxGraphCache._check_can_cache(gm, example_inputs, fx_config)
            self.graph, self.inputs = gm, list(example_inputs)
            self.made_by = ("tunec", _FORMAT, sorted(handled_names()), torch.__version__)
            self.default_type = torch.get_default_dtype()
            # What attention and recurrent layers are taken apart into follows these.
            kinds = torch.backends.cuda
            self.settings = (kinds.flash_sdp_enabled(), kinds.mem_efficient_sdp_enabled(),
                             kinds.math_sdp_enabled(), torch.backends.mkldnn.enabled)

    HAS_CACHE = (hasattr(functorch_config, "bundled_autograd_cache")
                 and hasattr(_Details, "_record_runtime_state")
                 and hasattr(autograd_cache.AOTAutogradCache, "_get_tmp_dir"))
except (ImportError, AttributeError):  # another version of torch
    HAS_CACHE, OutputCode = False, object

# Raised when what is stored changes, or a decomposition that has the name that it had.
_FORMAT = 3

# During a call of the backend: what makes a function of a graph and of the numbers of its arguments
# that are parameters and buffers.
_make_function = contextvars.ContextVar("make_function")


class StoredGraph(OutputCode):
    """What runs of a graph, and the graph, from which another process makes the same."""

    def __init__(self, graph, static_places, run):
        super().__init__()
        self._boxed_call = True  # in __dict__, which torch's wrappers copy
        # Whoever compiles a graph rewrites it.
        self._graph = fx.GraphModule(graph, copy.deepcopy(graph.graph))
        self._static_places = static_places
        self._bytes = None
        self._run = run

    def __call__(self, inputs):
        return self._run(inputs)

    def prepare_for_serialization(self):
        """Of a copy that is written to a file and does not run."""
        if _has_effects(self._graph):
            raise autograd_cache.BypassAOTAutogradCache("effects in the graph")
        self._bytes = GraphPickler.dumps(self._graph, Options(ops_filter=None))
        self._graph = self._run = None

    def post_compile(self, example_inputs, constants, graph_kwargs):
        """Of what was read from a file."""
        graph = GraphPickler.loads(self._bytes, detect_fake_mode(example_inputs))
        self._run = _make_function.get()(graph, self._static_places)


def _has_effects(graph):
    return bool(graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects))


def _folder():
    """Returns where graphs are kept."""
    return os.path.join(cache_dir(), "tunec")


@functools.cache
def _is_private(folder):
    """Tells whether a folder may be read, and warns where it may not."""
    reason = why_not_private(folder)
    if reason is not None:
        warnings.warn(f"tunec keeps no traced graphs: {reason}", NotCompiledWarning, stacklevel=2)
    return reason is None


def may_be_kept(example_inputs):
    """Tells whether a graph of Dynamo's with these inputs can be."""
    if not HAS_CACHE or any(not isinstance(x, torch.Tensor) for x in example_inputs):
        return False
    if torch.is_grad_enabled():
        return False
    is_fixed = all(isinstance(size, int) for x in example_inputs for size in (*x.shape, *x.stride()))
    return is_fixed and _is_private(_folder())


def keeping_compiler(make_function, static_places):
    """For AOTAutograd, a compiler whose graphs are kept. `static_places()`: which arguments of the
    graph that is being compiled are parameters and buffers."""
    def compiled(graph, inputs):
        places = static_places()
        stored = StoredGraph(graph, places, None)
        stored._run = make_function(graph, places)
        return stored
    return SerializableAOTDispatchCompiler(StoredGraph, compiled)


@contextlib.contextmanager
def kept_graphs(make_function):
    """While AOTAutograd runs: what it finds becomes a function by `make_function(graph, places)`."""
    token = _make_function.set(make_function)
    try:
        # Dynamo compiles one graph at a time, so nobody else's key is made meanwhile.
        with functorch_config.patch(bundled_autograd_cache=True), \
                mock.patch.object(autograd_cache, "AOTAutogradCacheDetails", _Details), \
                mock.patch.object(autograd_cache.AOTAutogradCache, "_get_tmp_dir", _folder):
            yield
    finally:
        _make_function.reset(token)
