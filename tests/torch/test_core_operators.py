"""Tests of all operators of core ATen. Each has a handler, is decomposed by torch, or is rejected
with a reason.

TUNEC_TEST_ROUNDS is the number of seeds of samples (default 1). Each operator and type is a
separate program, so the time is mostly that of compilation.
"""
import os
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from torch.utils import _pytree as pytree
from tunec.torch import UnsupportedOperator, import_graph, unsupported
from tunec.torch.element_types import element_type
from tunec.torch.handler_table import handled_names
from tunec.torch.imported_graph import Fixed

from core_operators import CORE, Done, Otherwise, Rejected
from run_graph import CompiledGraph
from samples import Sampler
from traced import difference, eager, trace

_TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16,
          torch.int32, torch.int64, torch.uint8, torch.bool)
_ROUNDS = int(os.environ.get("TUNEC_TEST_ROUNDS", "1"))


def core_overloads():
    """Returns the names of all overloads with the tag `core`."""
    everything = [name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()
                  if name.startswith("aten::")]
    whole = [name if "." in name else f"{name}.default" for name in everything]
    return {name for name in whole if torch.Tag.core in getattr(target_of(name), "tags", ())}


def target_of(name):
    packet, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload, None)


class CoreTable(unittest.TestCase):
    def test_has_each_operator_once(self):
        self.assertEqual(core_overloads() ^ set(CORE), set())

    def test_says_what_has_a_handler(self):
        for name, row in CORE.items():
            with self.subTest(name):
                has_one = isinstance(row, Done) and not isinstance(row, Otherwise)
                self.assertEqual(name in handled_names(), has_one)

    def test_rejected_ones_are_refused_with_their_reason(self):
        for name, row in CORE.items():
            if not isinstance(row, Rejected):
                continue
            for sample in row.samples:
                with self.subTest(name):
                    graph, _ = trace(target_of(name), [sample(Sampler(torch.float32, 0))])
                    reasons = [node.reason for node in unsupported(graph)]
                    self.assertTrue(any(row.reason in reason for reason in reasons), reasons)

    def test_numbers_of_shapes_are_known(self):
        aten = torch.ops.aten
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(6, 4, device="meta")
        rows = graph.call_function(aten.sym_size.int, (x, 0))
        step = graph.call_function(aten.sym_stride.int, (x, 0))
        count = graph.call_function(aten.sym_numel.default, (x,))
        offset = graph.call_function(aten.sym_storage_offset.default, (x,))
        dense = graph.call_function(aten.sym_is_contiguous.default, (x,))
        graph.output((rows, step, count, offset, dense))
        imported = import_graph(torch.fx.GraphModule({}, graph))
        self.assertEqual([entry.value for entry in imported.results], [6, 4, 24, 0, True])


class CoreOperators(unittest.TestCase):
    """Tests of each imported operator against eager PyTorch."""


def check_operator(test, name, row, make_graph=None):
    """Compares with eager PyTorch in each type that eager PyTorch supports, except rough types.
    tunec must reject the row's rejected types and no others. `make_graph` makes a graph from a
    target, samples and results. By default calls are traced."""
    target = target_of(name)
    compared = 0
    for number in range(_ROUNDS):
        for dtype in _TYPES:
            samples = [sample(Sampler(dtype, 1000 * number + i))
                       for i, sample in enumerate(row.samples)]
            expected = [eager(target, sample) for sample in samples]
            known = [i for i, w in enumerate(expected) if w is not None]
            if not known or element_type(dtype) in row.rough_types:
                continue
            with test.subTest(f"{name} of {element_type(dtype)}"):
                given, results = [samples[i] for i in known], [expected[i] for i in known]
                graph, tensors = (make_graph(target, given, results) if make_graph else
                                  trace(target, given))
                is_rejected = element_type(dtype) in row.rejected_types
                compared += _compare(test, graph, tensors, is_rejected, results)
    test.assertGreater(compared, 0)


def _compare(test, graph, tensors, is_rejected, expected):
    try:
        imported = import_graph(graph)
    except UnsupportedOperator as error:
        test.assertTrue(is_rejected, error)
        return 0
    test.assertFalse(is_rejected, "is no longer rejected")
    leaves = pytree.tree_leaves(expected)
    if not imported.outputs:
        return 0
    found = CompiledGraph(imported)(*tensors)
    for result, reference in zip(imported.results, leaves, strict=True):
        # Fixed results are not compared. Only the backward pass of another device reads them.
        if not isinstance(result, Fixed) and isinstance(reference, torch.Tensor):
            test.assertEqual(difference(found[result], reference), "")
    return len(leaves)


def _add_tests():
    for name, row in CORE.items():
        if isinstance(row, Done):
            def test(self, name=name, row=row):
                check_operator(self, name, row)
            setattr(CoreOperators, f"test_{name.replace('.', '_')}", test)


_add_tests()

if __name__ == "__main__":
    unittest.main()
