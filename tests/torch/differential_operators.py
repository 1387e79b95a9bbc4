"""Compares torch.compile(backend="tunec") with eager mode on the operators of torch's table.

    python tests/torch/differential_operators.py [--seed N] [--slice I/N] [NAME ...]

The samples of an operator are those of torch.testing in several types. In some of them, random
elements are replaced by infinities, NaN, zeros of both signs and values near overflow. Each
operator runs in a separate process. A result that differs from eager mode is also right if it
agrees with eager mode in float64. The exit code is 1 if a difference is not in ACCEPTED. Needs the
package expecttest.
"""
import argparse
import itertools
import os
import pickle
import random
import signal
import sys
import warnings
from dataclasses import dataclass

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from accepted_differences import ACCEPTED, SKIPPED

_TYPES = (torch.float32, torch.int64, torch.uint8, torch.bool, torch.bfloat16, torch.int32)
_MOST_ELEMENTS = 5000
_MOST_SAMPLES = 60  # torch's first samples of a type, of which a few are used
_SECONDS = 100  # for one operator
_TOLERANCES = {torch.bfloat16: 3e-2, torch.float16: 5e-3, torch.float64: 1e-6}
_SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 3e38)


@dataclass
class Sample:
    """The arguments of one call of an operator."""

    dtype: torch.dtype
    kind: str  # "special" if values were inserted
    arguments: tuple  # the operand, further arguments, arguments by name

    def call(self, operator):
        operand, args, kwargs = self.arguments
        return pytree.tree_leaves(operator(operand, *args, **kwargs))

    def converted(self, change):
        """Returns the same call with `change` applied to each tensor."""
        return Sample(self.dtype, self.kind, pytree.tree_map_only(torch.Tensor, change, self.arguments))

    def __str__(self):
        return f"{self.dtype} {self.kind} {_short(self.arguments[0])} {str(self.arguments[1:])[:240]}"


@dataclass
class Difference:
    """A wrong result of an operator, for one call."""

    operator: str
    sample: str
    text: str

    @property
    def reason(self):
        """Returns the reason why the difference is accepted, or None."""
        return next((a.reason for a in ACCEPTED if a.covers(self)), None)

    def __str__(self):
        return f"{self.operator}: {self.sample}\n    {self.text}"


def name_of(operator):
    return f"{operator.name} {operator.variant_test_name}".strip()


def operators():
    """Returns all operators of the table except SKIPPED, sorted by name."""
    return sorted((o for o in op_db if not any(part in o.name for part in SKIPPED)), key=name_of)


def _with_special_values(tensor, choose):
    if not tensor.is_floating_point() or tensor.numel() < 3 or not tensor.is_contiguous():
        return tensor
    changed = tensor.clone()
    flat = changed.view(-1)
    for value in _SPECIAL:
        if choose.random() < 0.6:
            flat[choose.randrange(flat.numel())] = value
    return changed


def _is_small(sample):
    return all(t.numel() <= _MOST_ELEMENTS for t in pytree.tree_leaves(sample)
               if isinstance(t, torch.Tensor))


def samples_of(operator, seed):
    """Yields a few samples of each type. Some float samples are repeated with special values."""
    choose = random.Random(f"{name_of(operator)} {seed}")
    torch.manual_seed(seed)
    for dtype in (t for t in _TYPES if t in operator.dtypes):
        try:
            made = list(itertools.islice(operator.sample_inputs("cpu", dtype), _MOST_SAMPLES))
        except Exception:  # torch raises an exception for some types
            continue
        small = [(s.input, s.args, s.kwargs) for s in made if _is_small((s.input, s.args, s.kwargs))]
        picked = choose.sample(small, min(len(small), 4 if dtype == torch.float32 else 2))
        yield from (Sample(dtype, "", arguments) for arguments in picked)
        if dtype.is_floating_point:
            for arguments in picked[:3]:
                plain = Sample(dtype, "special", arguments)
                yield plain.converted(lambda t: _with_special_values(t, choose))


def _short(value):
    if not isinstance(value, torch.Tensor):
        return str(value)[:120]
    return f"{value.dtype}{list(value.shape)} {str(value.flatten()[:8].tolist())[:160]}"


def _numbers(tensor):
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _agreeing(found, expected, tolerance):
    """Returns a mask of the elements that agree. The tolerance is relative to the sum of the
    element's and the median's magnitude."""
    found, expected = found.double(), expected.double()
    finite = expected[expected.isfinite()].abs()
    usual = min(max(finite.median().item(), 1e-3), 1e6) if finite.numel() else 1.0
    near = (found - expected).abs() <= tolerance * (expected.abs() + usual)
    return (found == expected) | (found.isnan() & expected.isnan()) | near


def _difference(found, expected, precise):
    """Returns the error of one result, or "" if each element agrees with `expected` or `precise`.
    `precise` is the result in float64, or None."""
    if not isinstance(expected, torch.Tensor):
        return "" if found is expected or found == expected else f"{found}, expected {expected}"
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{_short(found)}, expected {_short(expected)}"
    found, expected = _numbers(found), _numbers(expected)
    if not expected.is_floating_point():
        return "" if torch.equal(found, expected) else f"{_short(found)}, expected {_short(expected)}"
    tolerance = _TOLERANCES.get(expected.dtype, 2e-4)
    agree = _agreeing(found, expected, tolerance)
    if isinstance(precise, torch.Tensor) and precise.shape == found.shape:
        agree |= _agreeing(found, precise.to(found.dtype), tolerance)
    if agree.all():
        return ""
    at = tuple((~agree).nonzero()[0].tolist())
    return (f"at {list(at)} {found[at].item()}, expected {expected[at].item()}; "
            f"{int((~agree).sum())} of {agree.numel()} differ")


def _in_double(operator, sample):
    """Returns the results in float64, or an empty list if the call raises an exception."""
    def wide(tensor):
        return tensor.double() if tensor.is_floating_point() else tensor.clone()
    try:
        return [_numbers(r) if isinstance(r, torch.Tensor) else r
                for r in sample.converted(wide).call(operator)]
    except Exception:
        return []


def _compiled(operator, samples):
    """Returns the results of several calls, compiled as one graph."""
    torch._dynamo.reset()

    def all_of_them(arguments):
        return [pytree.tree_leaves(operator(operand, *args, **kwargs))
                for operand, args, kwargs in arguments]
    compiled = torch.compile(all_of_them, backend="tunec", dynamic=False)
    with torch.no_grad():
        # Samples may share tensors, and some operators write to their operands.
        return compiled([sample.converted(torch.clone).arguments for sample in samples])


def _results(operator, samples):
    """Returns the results of each call, or its exception. Calls run one by one if one graph cannot
    contain all."""
    try:
        return _compiled(operator, samples)
    except Exception:
        results = []
    for sample in samples:
        try:
            results += _compiled(operator, [sample])
        except Exception as error:
            results.append(error)
    return results


def _eager(operator, sample):
    try:
        with torch.no_grad():
            return sample.converted(torch.clone).call(operator)
    except Exception:
        return None


def differences(operator, seed):
    """Returns the Differences of an operator, computed in this process."""
    expected = [(s, _eager(operator, s)) for s in samples_of(operator, seed)]
    expected = [(sample, results) for sample, results in expected if results is not None]
    found = _results(operator, [sample for sample, _ in expected]) if expected else []
    name, different = name_of(operator), []
    for (sample, expected_results), results in zip(expected, found, strict=True):
        if isinstance(results, Exception):
            text = f"raises {type(results).__name__}: {str(results)[:300]}"
            different.append(Difference(name, str(sample), text))
            continue
        precise = _in_double(operator, sample)
        precise += [None] * (len(expected_results) - len(precise))
        texts = [_difference(*each) for each in zip(results, expected_results, precise)]
        text = next((f"result {i}: {t}" for i, t in enumerate(texts) if t), None)
        if text is not None:
            different.append(Difference(name, str(sample), text))
    return different


def _child(operator, seed, output):
    signal.alarm(_SECONDS)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        found = differences(operator, seed)
    except BaseException as error:
        found = [Difference(name_of(operator), "", f"the test failed: {type(error).__name__}: {error}")]
    with os.fdopen(output, "wb") as pipe:
        pickle.dump(found, pipe)
    os._exit(0)


def differences_apart(operator, seed):
    """Returns the Differences found by a child process. A child without a result is a
    difference."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(operator, seed, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if data:
        return pickle.loads(data)
    return [Difference(name_of(operator), "", f"ended with status {status}")]


def _chosen(options):
    chosen = [o for o in operators() if not options.names or o.name in options.names]
    part, parts = (int(number) for number in options.slice.split("/"))
    return chosen[part::parts]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="operators; all without any")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slice", default="0/1", help="I/N: each N-th operator, from the I-th on")
    options = parser.parse_args()
    chosen, accepted, faults = _chosen(options), 0, 0
    for operator in chosen:
        for difference in differences_apart(operator, options.seed):
            reason = difference.reason
            accepted, faults = accepted + bool(reason), faults + (not reason)
            print(f"accepted: {difference.operator}: {reason}" if reason else difference, flush=True)
    print(f"{len(chosen)} operators, seed {options.seed}: {faults} differences, {accepted} accepted")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
