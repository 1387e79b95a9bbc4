"""Tests of sums over windows, of resized images and of sorts, against eager PyTorch. Inputs contain
infinities and NaN, or sizes give coordinates near the border of two pixels. An infinity may reach
only the windows that contain it."""
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

from torch.utils import _pytree as pytree
from tunec.torch import import_graph
from tunec.torch.imported_graph import Fixed
from tunec.torch.own_decompositions import own_rules

from run_graph import CompiledGraph
from samples import Sampler
from traced import difference, eager, trace

_INF, _NAN = float("inf"), float("nan")
_ATEN = torch.ops.aten


def check(test, target, samples):
    """Compiles one program of all calls, and compares each result with eager PyTorch."""
    with own_rules():
        graph, tensors = trace(target, samples)
    imported = import_graph(graph)
    expected = pytree.tree_leaves([eager(target, sample) for sample in samples])
    found = CompiledGraph(imported)(*tensors)
    for number, (result, reference) in enumerate(zip(imported.results, expected, strict=True)):
        if not isinstance(result, Fixed) and isinstance(reference, torch.Tensor):
            with test.subTest(f"{target} {number}"):
                test.assertEqual(difference(found[result], reference), "")


def spoiled(seed, *shape, values=(_INF, -_INF, _NAN)):
    """Returns random numbers with a few special ones."""
    sampler = Sampler(torch.float32, seed)
    x = sampler.t(*shape)
    for value in values:
        x.view(-1)[sampler.size(0, x.numel() - 1)] = value
    return x


class Windows(unittest.TestCase):
    def test_adaptive_averages(self):
        check(self, _ATEN.adaptive_avg_pool1d.default,
              [(spoiled(i, 2, 4, n), [out]) for i, (n, out) in
               enumerate([(7, 3), (9, 4), (5, 8), (40, 7), (1, 3)])])
        check(self, _ATEN._adaptive_avg_pool2d.default,
              [(spoiled(i, 2, 3, *n), out) for i, (n, out) in
               enumerate([((7, 9), [3, 4]), ((8, 5), [3, 5]), ((13, 20), [7, 7])])])
        check(self, _ATEN._adaptive_avg_pool3d.default,
              [(spoiled(1, 1, 2, 5, 6, 7), [2, 4, 3])])

    def test_gradients_of_averages(self):
        check(self, _ATEN._adaptive_avg_pool2d_backward.default,
              [(spoiled(1, 2, 3, 3, 4), torch.zeros(2, 3, 7, 9)),
               (spoiled(2, 1, 2, 7, 7), torch.zeros(1, 2, 13, 20))])
        check(self, _ATEN.avg_pool2d_backward.default,
              [(spoiled(1, 1, 2, 5, 4), torch.zeros(1, 2, 10, 9), [3, 3], [2, 2], [1, 0], False,
                True, None),
               (spoiled(2, 1, 2, 3, 3), torch.zeros(1, 2, 9, 9), [2, 2], [3, 3], [0, 0], False,
                False, None),
               (spoiled(3, 1, 2, 4, 4), torch.zeros(1, 2, 7, 7), [3, 3], [2, 2], [1, 1], True,
                False, 5)])

    def test_bags(self):
        offsets = torch.tensor([0, 2, 2, 6])
        index = torch.tensor([0, 1, 4, 3, 2, 5])
        weight = spoiled(3, 9, 4)
        check(self, _ATEN._embedding_bag.default,
              [(weight, index, offsets, False, mode, False, None, last)
               for mode in (0, 1) for last in (True,)])

    def test_half_precision(self):
        x = spoiled(5, 2, 3, 9, 7).bfloat16()
        check(self, _ATEN._adaptive_avg_pool2d.default, [(x, [4, 3]), (x, [2, 5])])


class Nearest(unittest.TestCase):
    """Tests that resizing selects the elements of eager mode, which computes indices in float32."""

    def check(self, name, images, factors):
        """Compares one resize. `factors` apply to the last axis; the other axes keep their sizes.
        """
        target = getattr(_ATEN, name).vec
        samples = [(x, None, [1.0] * (x.dim() - 3) + [factor])
                   for x in images for factor in factors if int(x.shape[-1] * factor) > 0]
        check(self, target, samples)

    def test_factors(self):
        factors = [0.3, 0.55, 0.7, 1.05, 1.1, 1.3, 1.7, 2.0, 2.3, 2.7, 5 / 3]
        sampler = Sampler(torch.float32, 4)
        for axes in (1, 2, 3):
            images = [sampler.t(1, 2, *[2] * (axes - 1), n) for n in (2, 3, 10, 29, 47)]
            for kind in ("upsample_nearest", "_upsample_nearest_exact"):
                self.check(f"{kind}{axes}d", images, factors)

    def test_sizes_that_stay_or_double(self):
        sampler = Sampler(torch.float32, 5)
        for axes in (1, 2, 3):
            for channels in (1, 4):
                images = [sampler.t(1, channels, *[3] * (axes - 1), n) for n in (10, 150)]
                self.check(f"upsample_nearest{axes}d", images, [1.003, 1.05, 2.003, 2.05])


class Linear(unittest.TestCase):
    def test_an_infinity_stays_in_its_windows(self):
        x = torch.ones(1, 1, 8)
        x[..., 0] = _INF
        for size in (5, 16, 13):
            torch._dynamo.reset()
            y = torch.compile(lambda x: torch.nn.functional.interpolate(x, size, mode="linear"),
                              backend="tunec")(x)
            reference = torch.nn.functional.interpolate(x, size, mode="linear")
            self.assertEqual(difference(y, reference), "")


class Orders(unittest.TestCase):
    """Tests that sorts order NaN after infinity."""

    def rows(self):
        few = torch.tensor([[1.0, _INF, _NAN, 4.0, -_INF, _NAN, -_NAN, _INF]])
        sampler = Sampler(torch.float32, 6)
        chosen = torch.tensor([_INF, -_INF, _NAN, 0.0, 1.0])
        many = chosen[torch.randint(0, 5, (3, 700), generator=sampler._generator)]
        return [few, many, many.double(), few.half()]

    def test_places_of_stable_sorts(self):
        check(self, _ATEN.sort.stable,
              [(x, {"stable": True, "dim": 1, "descending": descending})
               for x in self.rows() for descending in (False, True)])

    def test_values_of_the_first(self):
        for x in self.rows():
            for largest in (False, True):
                with self.subTest(f"{list(x.shape)} {largest}"):
                    graph, tensors = trace(_ATEN.topk.default, [(x, 5, 1, largest)])
                    imported = import_graph(graph)
                    values = CompiledGraph(imported)(*tensors)[imported.results[0]]
                    self.assertEqual(difference(values, torch.topk(x, 5, 1, largest)[0]), "")

    def test_kth_value(self):
        for x in self.rows()[:2]:
            for k in (1, 3, x.shape[1]):
                graph, tensors = trace(_ATEN.kthvalue.default, [(x, k, 1)])
                imported = import_graph(graph)
                values = CompiledGraph(imported)(*tensors)[imported.results[0]]
                self.assertEqual(difference(values, torch.kthvalue(x, k, 1)[0]), "")


if __name__ == "__main__":
    unittest.main()
