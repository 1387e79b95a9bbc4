"""Tests of static caches of keys and values: a step writes a row of each, and no cache is copied or
repeated."""
import os
import subprocess
import sys
import unittest
import unittest.mock
import weakref

import torch
from torch.nn.functional import scaled_dot_product_attention
from tunec.torch import ImportedGraph

HEADS, GROUP, LENGTH, DEPTH = 8, 4, 16384, 128  # a cache has 64 MiB


def repeated(x, times):
    """Returns x with each head repeated `times` times in a row, as in transformers."""
    batch, heads, length, depth = x.shape
    return x[:, :, None].expand(batch, heads, times, length, depth).reshape(batch, heads * times, length, depth)


def repeated_in_turns(x, times):
    """Returns x with the sequence of all heads repeated `times` times. Heads then belong to other
    queries than after `repeated`."""
    batch, heads, length, depth = x.shape
    return x[:, None].expand(batch, times, heads, length, depth).reshape(batch, heads * times, length, depth)


def step(queries, keys, values, new_key, new_value, position):
    """Computes one token's attention over the caches, after writing the token's row."""
    keys.index_copy_(2, position, new_key)
    values.index_copy_(2, position, new_value)
    seen = torch.arange(keys.shape[2], device=keys.device)[None, None, None] <= position
    times = queries.shape[1] // keys.shape[1]
    return scaled_dot_product_attention(queries, repeated(keys, times), repeated(values, times), seen)


def new_rows():
    return torch.randn(1, HEADS, 1, DEPTH), torch.randn(1, HEADS, 1, DEPTH)


# A program that makes the memory of the caches read-only, except for the pages of a step's rows.
PROTECTED = """
import ctypes, mmap, sys
import torch
sys.path.append(sys.argv[1])
from test_static_caches import HEADS, GROUP, LENGTH, DEPTH, new_rows, step
libc = ctypes.CDLL(None, use_errno=True)

class Cache:
    def __init__(self):
        self.memory = mmap.mmap(-1, HEADS * LENGTH * DEPTH * 4)
        self.tensor = torch.frombuffer(self.memory, dtype=torch.float32).view(1, HEADS, LENGTH, DEPTH)
        self.tensor.normal_()

    def protect(self, begin, size, rights):
        assert libc.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(size), rights) == 0

    def allow_rows(self, position):
        begin = self.tensor.data_ptr()
        self.protect(begin, len(self.memory), mmap.PROT_READ)
        for head in range(HEADS):
            row = begin + (head * LENGTH + position) * DEPTH * 4
            self.protect(row // mmap.PAGESIZE * mmap.PAGESIZE, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)

torch.manual_seed(1)
keys, values = Cache(), Cache()
expected = keys.tensor.clone(), values.tensor.clone()
fast = torch.compile(step, backend=sys.argv[2], options={"db": None} if sys.argv[2] == "tunec" else None)
for position in (0, 1, 8191, LENGTH - 1):
    queries, at = torch.randn(1, HEADS * GROUP, 1, DEPTH), torch.tensor([position])
    rows = new_rows()
    keys.allow_rows(position)
    values.allow_rows(position)
    with torch.no_grad():
        torch.testing.assert_close(fast(queries, keys.tensor, values.tensor, *rows, at),
                                   step(queries, *expected, *rows, at), rtol=1e-4, atol=1e-4)
    assert torch.equal(keys.tensor, expected[0]) and torch.equal(values.tensor, expected[1])
print("written where allowed")
"""


def compiled_parts(function, *arguments):
    """Compiles and calls `function`. Returns its result, and pairs of the text and the executable
    of each compiled part."""
    parts = []

    real = ImportedGraph.compile

    def compile_graph(graph, **options):
        parts.append((graph.text, real(graph, **options)))
        return parts[-1][1]

    torch._dynamo.reset()
    # Executables of equal texts in other tests are not reused.
    unshared = unittest.mock.patch("tunec.torch.same_text._MADE", weakref.WeakValueDictionary())
    with torch.no_grad(), unshared, unittest.mock.patch.object(ImportedGraph, "compile", compile_graph):
        result = torch.compile(function, backend="tunec", options={"db": None})(*arguments)
    return result, parts


class Caches(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(1)

    def test_only_the_rows_of_a_step_are_written(self):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        ran = subprocess.run([sys.executable, "-c", PROTECTED, os.path.dirname(os.path.abspath(__file__)), "tunec"],
                             env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout.strip()), (0, "written where allowed"), ran.stderr)

    def test_no_memory_for_a_copy(self):
        keys, values = (torch.randn(1, HEADS, LENGTH, DEPTH) for _ in range(2))
        copies = keys.clone(), values.clone()
        queries, rows = torch.randn(1, HEADS * GROUP, 1, DEPTH), new_rows()
        at = torch.tensor([5])
        found, parts = compiled_parts(step, queries, keys, values, *rows, at)
        torch.testing.assert_close(found, step(queries, *copies, *rows, at), rtol=1e-4, atol=1e-4)
        self.assertEqual(len(parts), 1)
        report = parts[0][1].report
        self.assertLess(report["arena_bytes"] + report["context_bytes"], keys.nbytes // 16)
        # Repeated heads would be four times as large as the cache.
        self.assertNotIn(f"[1, {HEADS * GROUP}, {LENGTH}, {DEPTH}]", parts[0][0])


class Groups(unittest.TestCase):
    """Tests of key and value heads that are repeated for groups of queries."""

    def setUp(self):
        torch.manual_seed(2)

    def check(self, function, *arguments, group, tolerance=1e-5):
        """Compares with eager. `group` says whether the attention reads the heads before their
        repetition. Returns the result."""
        found, parts = compiled_parts(function, *arguments)
        torch.testing.assert_close(found, function(*arguments), rtol=10 * tolerance, atol=tolerance)
        self.assertEqual("expand" not in parts[0][0], group, parts[0][0])
        return found

    def test_masks(self):
        keys, values = torch.randn(2, 3, 21, 16), torch.randn(2, 3, 21, 16)
        for queries in (1, 5):
            q = torch.randn(2, 6, queries, 16)
            masks = (None, torch.rand(queries, 21) > 0.3, torch.rand(2, 1, queries, 21) > 0.3,
                     torch.randn(1, 6, queries, 21), torch.randn(2, 6, queries, 21))
            for mask in masks:
                with self.subTest(queries=queries, mask=None if mask is None else tuple(mask.shape)):
                    self.check(lambda q, k, v, mask: scaled_dot_product_attention(
                        q, repeated(k, 2), repeated(v, 2), mask), q, keys, values, mask, group=True)
                    self.check(lambda q, k, v, mask: scaled_dot_product_attention(
                        q, k, v, mask, enable_gqa=True), q, keys, values, mask, group=True)

    def test_causal(self):
        k, v = torch.randn(2, 3, 21, 16), torch.randn(2, 3, 21, 16)
        for queries in (1, 4):
            q = torch.randn(2, 6, queries, 16)
            self.check(lambda q, k, v: scaled_dot_product_attention(
                q, repeated(k, 2), repeated(v, 2), is_causal=True), q, k, v, group=True)

    def test_hidden_rows_are_zeros(self):
        keys, values = torch.randn(2, 3, 21, 16), torch.randn(2, 3, 21, 16)
        mask = torch.rand(2, 1, 1, 21) > 0.3
        mask[1] = False
        for heads in (3, 6):
            found = self.check(lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask, enable_gqa=True),
                               torch.randn(2, heads, 1, 16), keys, values, mask, group=True)
            self.assertEqual(found[1].abs().max(), 0)

    def test_types_and_many_in_a_group(self):
        for heads in (1, 2):
            for dtype, tolerance in ((torch.bfloat16, 1e-2), (torch.float64, 1e-10), (torch.float32, 1e-5)):
                q, k, v = (torch.randn(1, n, t, 64, dtype=dtype) for n, t in ((20, 1), (heads, 37), (heads, 37)))
                with self.subTest(heads=heads, dtype=dtype):
                    self.check(lambda q, k, v: scaled_dot_product_attention(
                        q, repeated(k, 20 // heads), repeated(v, 20 // heads)), q, k, v, group=True,
                               tolerance=tolerance)

    def test_a_score_is_of_its_own_group(self):
        q, k, v = torch.randn(1, 6, 1, 16), torch.randn(1, 3, 9, 16), torch.randn(1, 3, 9, 16)
        self.check(lambda q, k, v: scaled_dot_product_attention(
            q, repeated_in_turns(k, 2), repeated_in_turns(v, 2)), q, k, v, group=False)

    def test_keys_and_values_of_different_groups(self):
        q, k, v = torch.randn(1, 6, 1, 16), torch.randn(1, 3, 9, 16), torch.randn(1, 2, 9, 16)
        self.check(lambda q, k, v: scaled_dot_product_attention(
            q, repeated(k, 2), repeated(v, 3)), q, k, v, group=False)

    def test_repeated_keys_and_own_values(self):
        q, k, v = torch.randn(1, 6, 1, 16), torch.randn(1, 3, 9, 16), torch.randn(1, 6, 9, 16)
        self.check(lambda q, k, v: scaled_dot_product_attention(q, repeated(k, 2), v), q, k, v, group=False)


if __name__ == "__main__":
    unittest.main()
