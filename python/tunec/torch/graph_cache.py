"""A cache of AOTAutograd's graphs, shared by processes.

Tracing a Dynamo graph into a graph of ATen operators takes longer than all later stages if the
database has the kernels. A cache of torch stores the results of AOTAutograd and decides about
reuse. Only the traced graph is stored in that cache, without weights. Kernels stay in the database.

    Dynamo's graph -- AOTAutograd --> ATen graph -- backend.py --> runs
                         ^ skipped on a hit

torch stores a pickle, and reading a pickle runs the code of its author. The cache is therefore a
folder that only the user can access (private_folder.py). If the folder is not private, graphs are
traced.

Only graphs without gradients, with fixed sizes and without effects are cached. Effects are checks
ordered by tokens, such as those of linalg. torch's cache does not pass tokens to a cached graph. If
torch has no such cache, or cannot decide about reuse, the graph is traced.
"""
import contextlib
import contextvars
import copy
import functools
import os
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch._dynamo.utils import detect_fake_mode

from .._errors import NotCompiledWarning
from .handler_table import handled_names
from .private_folder import why_not_private

try:
    from torch._functorch import config as functorch_config
    from torch._functorch._aot_autograd import autograd_cache
    from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler
    from torch._inductor.codecache import FxGraphCache
    from torch._inductor.output_code import OutputCode
    from torch._inductor.runtime.cache_dir_utils import cache_dir
    from torch.fx._graph_pickler import GraphPickler, Options

    class _Details(autograd_cache.AOTAutogradCacheDetails):
        """The properties that are hashed to the key of a cached graph. torch's own class includes
        Inductor's settings. Reading these settings would load all of Inductor, which takes longer
        than tracing most graphs."""

        def _init_fx_graph_hash_details(self, gm, example_inputs, fx_config):
            FxGraphCache._check_can_cache(gm, example_inputs, fx_config)
            self.graph, self.inputs = gm, list(example_inputs)
            self.made_by = ("tunec", _FORMAT, sorted(handled_names()), torch.__version__)
            self.default_type = torch.get_default_dtype()
            # These settings determine the decompositions of attention and recurrent layers.
            kinds = torch.backends.cuda
            self.settings = (kinds.flash_sdp_enabled(), kinds.mem_efficient_sdp_enabled(),
                             kinds.math_sdp_enabled(), torch.backends.mkldnn.enabled)

    HAS_CACHE = (hasattr(functorch_config, "bundled_autograd_cache")
                 and hasattr(_Details, "_record_runtime_state")
                 and hasattr(autograd_cache.AOTAutogradCache, "_get_tmp_dir"))
except (ImportError, AttributeError):  # another version of torch
    HAS_CACHE, OutputCode = False, object

# Version of the key. Increase it if the stored form changes, or if a decomposition changes and
# keeps its name.
_FORMAT = 3

# Function that makes the callable of a graph, from the graph and the indices of the arguments that
# are parameters and buffers. It is set during a call of the backend.
_make_function: contextvars.ContextVar[Callable[..., Any]] = contextvars.ContextVar("make_function")


class StoredGraph(OutputCode):
    """A callable of a graph, stored as the graph: another process makes the same callable from
    it."""

    def __init__(self, graph, static_indices, run):
        super().__init__()
        self._boxed_call = True  # in __dict__, because torch's wrappers copy it
        # Compiling rewrites the graph, so a copy is stored.
        self._graph = fx.GraphModule(graph, copy.deepcopy(graph.graph))
        self._static_places = static_indices
        self._bytes = None
        self._run = run

    def __call__(self, inputs):
        return self._run(inputs)

    def prepare_for_serialization(self):
        """Prepares this object, a copy of the running one, for a file. Afterwards it has the graph
        as bytes and cannot run. Raises torch's BypassAOTAutogradCache for a graph with effects."""
        if _has_effects(self._graph):
            raise autograd_cache.BypassAOTAutogradCache("effects in the graph")
        self._bytes = GraphPickler.dumps(self._graph, Options(ops_filter=None))
        self._graph = self._run = None

    def post_compile(self, example_inputs, constants, graph_kwargs):
        """Makes the callable after the graph was read from a file."""
        graph = GraphPickler.loads(self._bytes, detect_fake_mode(example_inputs))
        self._run = _make_function.get()(graph, self._static_places)


def _has_effects(graph):
    return bool(graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects))


def _folder():
    """Returns the folder of the cache."""
    return os.path.join(cache_dir(), "tunec")


@functools.cache
def _is_private(folder):
    """Tests if a folder is private, and warns if not."""
    reason = why_not_private(folder)
    if reason is not None:
        warnings.warn(f"tunec does not cache traced graphs: {reason}", NotCompiledWarning, stacklevel=2)
    return reason is None


def can_be_cached(example_inputs):
    """Tests if the graph of a call with these inputs can be cached. Warns if the folder is not
    private."""
    if not HAS_CACHE or any(not isinstance(x, torch.Tensor) for x in example_inputs):
        return False
    if torch.is_grad_enabled():
        return False
    is_fixed = all(isinstance(size, int) for x in example_inputs for size in (*x.shape, *x.stride()))
    return is_fixed and _is_private(_folder())


def caching_compiler(make_function, static_indices):
    """Returns a compiler for AOTAutograd whose graphs are cached. `static_indices()` returns the
    indices of parameters and buffers among the arguments of the current graph."""
    def compiled(graph, inputs):
        indices = static_indices()
        stored = StoredGraph(graph, indices, None)
        stored._run = make_function(graph, indices)
        return stored
    return SerializableAOTDispatchCompiler(StoredGraph, compiled)


@contextlib.contextmanager
def cached_graphs(make_function):
    """Returns a context for AOTAutograd. In it, graphs are looked up in tunec's cache, and
    `make_function(graph, static_indices)` makes the callable of a cached graph."""
    token = _make_function.set(make_function)
    try:
        # Dynamo compiles one graph at a time, so the patches affect no other compiler.
        with functorch_config.patch(bundled_autograd_cache=True), \
                mock.patch.object(autograd_cache, "AOTAutogradCacheDetails", _Details), \
                mock.patch.object(autograd_cache.AOTAutogradCache, "_get_tmp_dir", _folder):
            yield
    finally:
        _make_function.reset(token)
